/** The sender's fault: answered with 400, never stored. */
export class InvalidPayload extends Error {
  override name = "InvalidPayload";
}

/** Verified and stored, but a field has an unexpected value: the delivery fails and is listed. */
export class UnreadablePayload extends Error {
  override name = "UnreadablePayload";
}
