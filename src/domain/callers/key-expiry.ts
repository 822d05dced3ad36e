import type { z } from "zod";
import type { Reason } from "../refusals/reasons.ts";
import { refuse } from "../refusals/refusal.ts";
import { TimeInput } from "../time-input.ts";

/** RFC 3339 has no year after 9999, whatever the offset. */
const LAST_TIME = new Date("9999-12-31T23:59:59.999Z");

export const KeyExpiry = TimeInput.nullable()
  .optional()
  .describe("When it expires; defaults to a year from now; `null`: never.");

/** Why a new key's expiry may be refused. */
export const EXPIRY_REASONS = ["expiry_in_past", "expiry_too_late"] as const satisfies Reason[];

/** When a new key expires; `null`: never. @throws Refusal one of `EXPIRY_REASONS` */
export function expiryOf(requested: z.output<typeof KeyExpiry>, now: Date): Date | null {
  if (requested === null) return null;
  const expiresAt = requested === undefined ? inAYear(now) : new Date(requested);
  if (expiresAt <= now) refuse({ reason: "expiry_in_past", field: "expiresAt" });
  if (expiresAt > LAST_TIME) refuse({ reason: "expiry_too_late", field: "expiresAt" });
  return expiresAt;
}

function inAYear(now: Date): Date {
  const later = new Date(now);
  later.setUTCFullYear(now.getUTCFullYear() + 1);
  return later;
}
