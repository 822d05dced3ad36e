import { z } from "zod";

/** Normalized; 254 characters are what mail can be sent to (RFC 5321). */
export const EmailAddress = z
  .string()
  .trim()
  .toLowerCase()
  .max(254)
  .pipe(z.email())
  .meta({ format: "email" });

/** As addresses are stored and compared: people and providers write the same one in upper and lower case. */
export function normalizedAddress(email: string): string {
  return email.trim().toLowerCase();
}

/** @param other `null` or `undefined`: there is none, so that it is not the same */
export function isSameAddress(email: string, other: string | null | undefined): boolean {
  return other !== null && other !== undefined && normalizedAddress(email) === normalizedAddress(other);
}
