import { advance, nextDueAt } from "../lifecycle/advance.ts";
import { emitEvents } from "./emit-events.ts";
import type { ProviderSlot } from "./provider-slot.ts";
import type { SimulatedSubscription } from "./state.ts";

export type Clock = {
  nowMs(): number;
  /** Never backwards; applies what comes due in between. */
  moveTo(ms: number): void;
};

/**
 * Moves the provider's clock forward, applying what comes due in order, each at its time.
 * @param clock only stores the time: its `moveTo` applies nothing
 */
export function moveClock(clock: Clock, slots: readonly ProviderSlot[], toMs: number): void {
  for (;;) {
    const next = nextDue(slots);
    if (next === null || next.atSeconds * 1_000 > toMs) break;
    clock.moveTo(next.atSeconds * 1_000);
    const { slot, subscription, atSeconds } = next;
    emitEvents(slot, advance(subscription, slot.traits.dunning, atSeconds));
  }
  clock.moveTo(toMs);
}

/** The next due change of any subscription; `null`: none. */
export function nextDueMs(slots: readonly ProviderSlot[]): number | null {
  const next = nextDue(slots);
  return next && next.atSeconds * 1_000;
}

/** The last end of a present period up to this time; `null`: none ends by then. */
export function lastPeriodEndMs(slots: readonly ProviderSlot[], untilMs: number): number | null {
  let last: number | null = null;
  for (const slot of slots) {
    for (const subscription of slot.state.subscriptions) {
      const endMs = subscription.state.periodEndSeconds * 1_000;
      if (endMs <= untilMs && (last === null || endMs > last)) last = endMs;
    }
  }
  return last;
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
