import { setTimeout as sleep } from "node:timers/promises";
import { SLOTS, type Slot } from "../domain/slot.ts";

/** How often a slot without work looks for some while another one has work. */
const CHECK_MS = 250;

/**
 * Works on all slots at once, on each again as long as any has work: one whose provider answers slowly holds up
 * itself alone.
 * @param next what is to be done for the slot now; `null`: nothing
 * @throws what the first one failed with, when the others have ended their work
 */
export async function workOnSlots(
  next: (slot: Slot) => Promise<(() => Promise<void>) | null>,
  isStopping: () => boolean,
): Promise<void> {
  const idle = new Set<Slot>();
  const failures: unknown[] = [];
  const ended = new AbortController();
  const workOn = async (slot: Slot) => {
    do {
      // Not idle while it looks: the others wait for what it finds.
      idle.delete(slot);
      const work = await next(slot);
      if (work !== null) {
        await work();
        continue;
      }
      idle.add(slot);
      if (idle.size === SLOTS.length) ended.abort();
      else await sleep(CHECK_MS, undefined, { signal: ended.signal }).catch(() => {});
    } while (!isStopping() && !ended.signal.aborted);
  };
  const failed = (error: unknown) => {
    failures.push(error);
    ended.abort();
  };
  await Promise.all(SLOTS.map((slot) => workOn(slot).catch(failed)));
  if (failures.length > 0) throw failures[0];
}
