import { SLOTS, type Slot } from "../domain/slot.ts";
import type { WireFormat } from "./adapter.ts";

/** What a slot is bound to. */
export type SlotBinding = {
  format: WireFormat;
  /** Any of them verifies; empty: the slot refuses everything. */
  secrets: readonly string[];
};

export function bindSlots(binding: (slot: Slot) => SlotBinding): Record<Slot, SlotBinding> {
  return Object.fromEntries(SLOTS.map((slot) => [slot, binding(slot)])) as Record<Slot, SlotBinding>;
}
