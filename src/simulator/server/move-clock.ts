import { advance, nextDueAt } from "../lifecycle/lifecycle.ts";
import { emitEvents } from "./emit-events.ts";
import type { ProviderSlot } from "./provider-slot.ts";
import type { SimulatedSubscription } from "./state.ts";

export type Clock = {
  nowMs(): number;
  /** Never backwards; what comes due on the way happens. */
  moveTo(ms: number): void;
};

/**
 * Moves the provider's clock forward; what comes due on the way happens in its order, each at its time.
 * @param hand the bare clock, at which nothing happens
 */
export function moveClock(hand: Clock, slots: readonly ProviderSlot[], toMs: number): void {
  for (;;) {
    const next = nextDue(slots);
    if (next === null || next.atSeconds * 1_000 > toMs) break;
    hand.moveTo(next.atSeconds * 1_000);
    const { slot, subscription, atSeconds } = next;
    emitEvents(slot, advance(subscription, slot.traits.dunning, atSeconds));
  }
  hand.moveTo(toMs);
}

/** When something happens by itself the next time, at any of the subscriptions; `null`: never. */
export function nextDueMs(slots: readonly ProviderSlot[]): number | null {
  const next = nextDue(slots);
  return next && next.atSeconds * 1_000;
}

function nextDue(
  slots: readonly ProviderSlot[],
): { slot: ProviderSlot; subscription: SimulatedSubscription; atSeconds: number } | null {
  let next: { slot: ProviderSlot; subscription: SimulatedSubscription; atSeconds: number } | null = null;
  for (const slot of slots) {
    for (const subscription of slot.state.subscriptions) {
      const atSeconds = nextDueAt(subscription, slot.traits.dunning);
      if (atSeconds !== null && (next === null || atSeconds < next.atSeconds))
        next = { slot, subscription, atSeconds };
    }
  }
  return next;
}
