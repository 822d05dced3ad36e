/** RFC 3339 has no year after 9999, whatever the offset. */
const LAST_TIME = new Date("9999-12-31T23:59:59.999Z");

type Expiry =
  | { ok: true; expiresAt: Date | null }
  | { ok: false; reason: "expiry_in_past" | "expiry_too_late" };

/** When a new key expires: a year from now unless given; `null`: never. @param requested ISO 8601 */
export function expiryOf(requested: string | null | undefined, now: Date): Expiry {
  if (requested === null) return { ok: true, expiresAt: null };
  const expiresAt = requested === undefined ? inAYear(now) : new Date(requested);
  if (expiresAt <= now) return { ok: false, reason: "expiry_in_past" };
  if (expiresAt > LAST_TIME) return { ok: false, reason: "expiry_too_late" };
  return { ok: true, expiresAt };
}

function inAYear(now: Date): Date {
  const later = new Date(now);
  later.setUTCFullYear(now.getUTCFullYear() + 1);
  return later;
}
