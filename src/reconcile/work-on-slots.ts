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
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const workOn = async (slot: Slot) => {
    do {
      const work = await next(slot);
      if (work !== null) {
        idle.delete(slot);
        await work();
        continue;
      }
      idle.add(slot);
      if (idle.size === SLOTS.length) return end();
      await Promise.race([sleep(CHECK_MS), ended]);
    } while (!isStopping() && failures.length === 0);
  };
  await Promise.all(SLOTS.map((slot) => workOn(slot).catch((error: unknown) => failures.push(error))));
  if (failures.length > 0) throw failures[0];
}
