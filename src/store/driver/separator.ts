// JSON text never contains raw control characters, so payloads can be joined without quoting.
export const SEPARATOR = "\u001e";
const SEPARATOR_BYTES = Buffer.from(SEPARATOR);

/** Payloads as one binary parameter of type text: neither decoded nor encoded again. `null`: an empty one. */
export function joinPayloads(payloads: readonly (Buffer | null)[]): Buffer {
  const parts: Buffer[] = [];
  for (const [index, payload] of payloads.entries()) {
    if (index > 0) parts.push(SEPARATOR_BYTES);
    if (payload !== null) parts.push(payload);
  }
  return Buffer.concat(parts);
}
