/** The sender's fault: answered with 400, never stored. */
export class InvalidPayload extends Error {
  override name = "InvalidPayload";
}

/** Verified and stored, but a field does not mean what the format says it may: the delivery fails and is listed. */
export class UnreadablePayload extends Error {
  override name = "UnreadablePayload";
}
