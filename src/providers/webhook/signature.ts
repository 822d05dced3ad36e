import { createHmac, timingSafeEqual } from "node:crypto";
import type { SignatureProblem, VerifyOptions } from "../adapter.ts";

/** A longer header is rejected unparsed: no provider comes close, and a hostile one must be cheap. */
export const MAX_HEADER_CHARACTERS = 4096;

/** A header with more parts is rejected as well. */
export const MAX_HEADER_PARTS = 64;

const MAC_BYTES = 32;
const HEX_MAC = /^[0-9a-f]{64}$/i;
const BASE64_MAC_CHARACTERS = 44;
const MAX_TIMESTAMP_DIGITS = 15;

/**
 * Checks any of the decoded signatures against any of the keys; the MAC covers the prefix, then the raw
 * bytes.
 */
export function signatureProblem(
  signatures: readonly Buffer[],
  keys: readonly (string | Buffer)[],
  prefix: string,
  rawBody: Buffer,
): SignatureProblem | null {
  if (signatures.length === 0) return "header malformed";
  for (const key of keys) {
    // Anybody can compute a MAC with an empty key.
    if (key.length === 0) continue;
    const expected = macOf(key, prefix, rawBody);
    for (const signature of signatures) {
      if (signature.length === MAC_BYTES && timingSafeEqual(signature, expected)) return null;
    }
  }
  return "no signature matches a secret";
}

/** HMAC-SHA256 over prefix and body, without joining the two in memory. */
export function macOf(key: string | Buffer, prefix: string, rawBody: Buffer): Buffer {
  return createHmac("sha256", key).update(prefix).update(rawBody).digest();
}

/** @param timestamp Unix seconds as plain decimal digits; signs, fractions and exponents are malformed. */
export function timestampProblem(timestamp: string, options: VerifyOptions): SignatureProblem | null {
  if (timestamp.length > MAX_TIMESTAMP_DIGITS || !isDigits(timestamp)) return "header malformed";
  // The senders' own libraries count whole seconds too: a fraction more is not outside.
  const distanceSeconds = Math.abs(Math.floor(options.nowSeconds) - Number(timestamp));
  return distanceSeconds <= options.toleranceSeconds ? null : "timestamp outside tolerance";
}

/** Decodes a MAC of 64 hexadecimal digits; `null` for any other text. */
export function decodeHexMac(text: string): Buffer | null {
  // Node's decoder stops at invalid characters.
  return HEX_MAC.test(text) ? Buffer.from(text, "hex") : null;
}

/** Decodes a MAC in padded base64; `null` for any other text. */
export function decodeBase64Mac(text: string): Buffer | null {
  if (text.length !== BASE64_MAC_CHARACTERS) return null;
  const mac = Buffer.from(text, "base64");
  return mac.length === MAC_BYTES && mac.toString("base64") === text ? mac : null;
}

function isDigits(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code < 0x30 || code > 0x39) return false;
  }
  return text.length > 0;
}
