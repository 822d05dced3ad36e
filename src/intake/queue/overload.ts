import type { Intake } from "../intake.ts";

type Queues = Pick<Intake, "deliveries" | "repeats" | "claims" | "attempts">;

/** Longer than a slow disk stalls a group, and short enough to answer what is accepted in time. */
const MAX_DELAY_MS = 2_000;
const MAX_WAITING_ITEMS = 20_000;
const MAX_WAITING_BYTES = 128 * 1024 * 1024;

/**
 * Whether another delivery would only lengthen the queue. Events that wait for their own lock do not count as
 * delayed, only towards what fits into memory.
 */
export function isOverloaded(queues: Queues): boolean {
  for (const queue of [queues.deliveries, queues.repeats, queues.claims])
    if (queue.delayMs() > MAX_DELAY_MS) return true;
  const { items, bytes } = load(queues);
  return items >= MAX_WAITING_ITEMS || bytes >= MAX_WAITING_BYTES;
}

/** A webhook takes milliseconds: this many at once means that they queue. */
const BUSY_ITEMS = 16;

/** Whether webhooks queue, so that other work of this process should wait. */
export function isBusy(queues: Queues): boolean {
  return load(queues).items >= BUSY_ITEMS;
}

function load({ deliveries, repeats, claims, attempts }: Queues): { items: number; bytes: number } {
  const total = { items: 0, bytes: 0 };
  for (const queue of [deliveries, repeats, claims, attempts]) {
    const { items, bytes } = queue.load();
    total.items += items;
    total.bytes += bytes;
  }
  return total;
}
