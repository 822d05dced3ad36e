import { createHmac } from "node:crypto";

/** Names an e-mail address in tables of attempts without keeping it: an HMAC, as addresses can be guessed. */
export function keyedHash(secret: string): (email: string) => string {
  return (email) =>
    createHmac("sha256", secret).update(`address:${email.trim().toLowerCase()}`).digest("base64url");
}
