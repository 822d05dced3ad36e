import type { Intake } from "./intake.ts";

/** Longer than a slow disk stalls a group, and short enough to answer what is accepted in time. */
const MAX_DELAY_MS = 2_000;
const MAX_WAITING_ITEMS = 20_000;
const MAX_WAITING_BYTES = 128 * 1024 * 1024;

/**
 * Whether another delivery would only lengthen the queue. Events that wait for their own lock do not count as
 * delayed, only towards what fits into memory.
 */
export function isOverloaded({
  deliveries,
  claims,
  attempts,
}: Pick<Intake, "deliveries" | "claims" | "attempts">): boolean {
  if (deliveries.delayMs() > MAX_DELAY_MS || claims.delayMs() > MAX_DELAY_MS) return true;
  const [first, claimed, running] = [deliveries.load(), claims.load(), attempts.load()];
  return (
    first.items + claimed.items + running.items >= MAX_WAITING_ITEMS ||
    first.bytes + claimed.bytes + running.bytes >= MAX_WAITING_BYTES
  );
}

/** A webhook takes milliseconds: this many at once means that they queue. */
const BUSY_ITEMS = 16;

/** Whether webhooks queue, so that other work of this process should wait. */
export function isBusy({
  deliveries,
  claims,
  attempts,
}: Pick<Intake, "deliveries" | "claims" | "attempts">): boolean {
  return deliveries.load().items + claims.load().items + attempts.load().items >= BUSY_ITEMS;
}
