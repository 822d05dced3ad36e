/** The three slots for payment providers, called `provider` outside. */
export const SLOTS = ["provider-a", "provider-b", "provider-c"] as const;

export type Slot = (typeof SLOTS)[number];

export function isSlot(name: string): name is Slot {
  return (SLOTS as readonly string[]).includes(name);
}

/** A value for each slot. */
export function perSlot<Value>(value: (slot: Slot) => Value): Record<Slot, Value> {
  return Object.fromEntries(SLOTS.map((slot) => [slot, value(slot)])) as Record<Slot, Value>;
}

/** How the names of a slot's environment variables begin, such as `PROVIDER_A` in `PROVIDER_A_API_KEY`. */
export function variablePrefix(slot: Slot): "PROVIDER_A" | "PROVIDER_B" | "PROVIDER_C" {
  return slot.replace("-", "_").toUpperCase() as ReturnType<typeof variablePrefix>;
}
