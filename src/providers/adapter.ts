export { InvalidPayload, UnreadablePayload } from "../domain/payload-problems.ts";

import type { EventIdentity, PaymentEvent } from "../domain/payment-event.ts";

export const WIRE_FORMATS = ["stripe", "paddle", "polar", "lemon-squeezy"] as const;
export type WireFormat = (typeof WIRE_FORMATS)[number];

/** A delivery as it came in: the bytes that were signed, and access to the headers by lower-case name. */
export type SignedRequest = {
  header(name: string): string | undefined;
  rawBody: Buffer;
};

export type VerifyOptions = {
  /** Trimmed, not empty; a signature that matches any of them verifies. */
  secrets: readonly string[];
  /** Seconds since the epoch. */
  nowSeconds: number;
  /** How far a signed time stamp may lie in the past or in the future, in seconds. */
  toleranceSeconds: number;
};

/** Which check failed: for the operator's log, never for the sender. */
export type SignatureProblem =
  | "header missing"
  | "header malformed"
  | "time stamp outside tolerance"
  | "no signature matches a secret"
  | "event name in the header differs from the signed one";

export type Adapter = {
  readonly format: WireFormat;
  /** Checks the signature over the raw bytes; `null` when it is good. Never throws. */
  verify(request: SignedRequest, options: VerifyOptions): SignatureProblem | null;
  /** Event id and type of a verified delivery. @throws InvalidPayload when either is missing or unusable. */
  identify(request: SignedRequest, body: unknown): EventIdentity;
  /** The meaning of a payload, from the stored JSON alone. @throws UnreadablePayload naming the field and what is wrong with it. */
  interpret(eventType: string, body: unknown): PaymentEvent;
  /** The headers with which the provider would deliver these bytes: for the simulator and for tests. */
  sign(rawBody: Buffer, options: SignOptions): Record<string, string>;
};

export type SignOptions = {
  secret: string;
  nowSeconds: number;
  /** Formats that carry the id or the name outside the body put them in a header. */
  eventId: string;
  eventType: string;
};
