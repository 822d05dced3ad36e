import { setTimeout as sleep } from "node:timers/promises";
import { endWhenStalled } from "../domain/end-when-stalled.ts";
import { SLOTS, type Slot } from "../domain/slot.ts";

/** Asks `isStopping` between two steps. */
type Work = (isStopping: () => boolean) => Promise<void>;

/** How often a slot without work looks for some while another one has work. */
const CHECK_MS = 250;

/**
 * Works on all slots at once, on each again as long as any has work: one whose provider answers slowly holds up
 * itself alone. One that hangs is given up, however busy the others are.
 * @param next what is to be done for the slot now; `null`: nothing
 * @throws what the first one failed with, when the others have ended their work
 */
export async function workOnSlots(
  next: (slot: Slot) => Promise<Work | null>,
  isStopping: () => boolean,
): Promise<void> {
  const idle = new Set<Slot>();
  const failures: unknown[] = [];
  const ended = new AbortController();
  const workOn = async (slot: Slot) => {
    do {
      // Not idle while it looks: the others wait for what it finds.
      idle.delete(slot);
      const hadWork = await endWhenStalled(isStopping, async (isStopping) => {
        const work = await next(slot);
        await work?.(isStopping);
        return work !== null;
      });
      if (hadWork) continue;
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
