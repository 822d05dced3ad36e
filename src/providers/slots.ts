import { SLOTS, type Slot } from "../domain/slot.ts";
import type { WireFormat } from "./adapter.ts";

/** The configuration of a slot. */
export type SlotBinding = {
  format: WireFormat;
  /** A signature by any of them is valid; empty: the slot rejects everything. */
  secrets: readonly string[];
};

export function bindSlots(binding: (slot: Slot) => SlotBinding): Record<Slot, SlotBinding> {
  return Object.fromEntries(SLOTS.map((slot) => [slot, binding(slot)])) as Record<Slot, SlotBinding>;
}
