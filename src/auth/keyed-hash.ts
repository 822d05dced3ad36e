import { createHmac } from "node:crypto";
import { normalizedAddress } from "../domain/users/email-address.ts";

/** Names an email address in tables of attempts without keeping it: an HMAC, as addresses can be guessed. */
export function keyedHash(secret: string): (email: string) => string {
  return (email) =>
    createHmac("sha256", secret)
      .update(`address:${normalizedAddress(email)}`)
      .digest("base64url");
}

/** Codes are short: without the key anybody could try them all. */
export function keyedCodeHash(secret: string, code: string): string {
  return createHmac("sha256", secret).update(`totp:${code}`).digest("base64url");
}
