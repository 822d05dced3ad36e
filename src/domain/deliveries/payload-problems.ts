import { type Failure, unreadableField } from "./failures.ts";

/** The sender's fault: answered with 400, never stored. */
export class InvalidPayload extends Error {
  override name = "InvalidPayload";
}

/** Verified and stored, but a field has an unexpected value: the delivery fails and is listed. */
export class UnreadablePayload extends Error {
  override name = "UnreadablePayload";
  readonly failure: Extract<Failure, { reason: "payload_unreadable" }>;

  constructor(params: UnreadablePayload["failure"]["params"]) {
    super(unreadableField(params));
    this.failure = { reason: "payload_unreadable", params };
  }
}
