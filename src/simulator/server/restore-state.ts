import { SLOTS, type Slot } from "../../domain/slot.ts";
import type { WireFormat } from "../../providers/adapter.ts";
import type { SimulatorLog } from "./simulator-log.ts";
import { blankSlot, type SimulatorState, type SlotState } from "./state.ts";
import { loadState } from "./state-file.ts";

type RestoreOptions = {
  slots: Record<Slot, { format: WireFormat; webhookSecret: string }>;
  stateFile: string | null;
  log: SimulatorLog;
};

/**
 * The state of the last run; a slot whose format has changed starts empty, and a changed secret replaces a
 * rotated one.
 */
export async function restoreState({ slots, stateFile, log }: RestoreOptions): Promise<SimulatorState> {
  const saved = stateFile === null ? null : await loadState(stateFile, log);
  const stateOf = (slot: Slot): SlotState => {
    const { format, webhookSecret } = slots[slot];
    const before = saved?.slots[slot];
    if (before && before.format !== format) {
      log.warn(
        { slot, was: before.format, is: format },
        "the slot has another format now: its state is reset",
      );
    }
    if (before?.format !== format) return blankSlot(format, webhookSecret);
    const isUnchanged = before.givenSecret === webhookSecret;
    return { ...before, givenSecret: webhookSecret, secret: isUnchanged ? before.secret : webhookSecret };
  };
  return {
    version: 3,
    aheadMs: saved?.aheadMs ?? 0,
    slots: Object.fromEntries(SLOTS.map((slot) => [slot, stateOf(slot)])) as SimulatorState["slots"],
  };
}
