import { chargeFor, periodLine } from "../lifecycle/charge.ts";
import type { ChargeLine } from "../lifecycle/charge-line.ts";
import type { Transition } from "../lifecycle/transition.ts";
import { eventContextOf } from "../server/event-context.ts";
import type { ProviderSlot } from "../server/provider-slot.ts";
import type { SimulatedSubscription } from "../server/state.ts";
import { transaction } from "./events.ts";

/** What a change would cost: at once, with the next period and from then on. */
export function updatePreview(
  slot: ProviderSlot,
  before: SimulatedSubscription,
  { subscription: changed, events }: Transition<SimulatedSubscription>,
): object {
  const isNow = events.includes("change charged");
  const added = isNow
    ? (changed.state.charge?.lines ?? [])
    : (changed.pendingLines ?? []).slice((before.pendingLines ?? []).length);
  const renewal = periodLine(changed.state);
  const detailsOf = (subscription: SimulatedSubscription) => previewOf(slot, subscription);
  const withLines = (lines: readonly ChargeLine[]): SimulatedSubscription => ({
    ...changed,
    state: { ...changed.state, charge: chargeFor(null, lines, changed.credit ?? 0) },
  });
  return {
    immediate_transaction: isNow ? detailsOf(changed) : null,
    next_transaction: detailsOf(withLines([renewal, ...(changed.pendingLines ?? [])])),
    recurring_transaction_details: detailsOf(withLines([renewal])).details,
    update_summary: updateSummary(added, changed.state.offer.currency),
  };
}

function previewOf(slot: ProviderSlot, subscription: SimulatedSubscription) {
  const { billing_period, details } = transaction(eventContextOf(slot, subscription));
  return { billing_period, details, adjustments: [] };
}

function updateSummary(lines: readonly ChargeLine[], currency_code: string): object {
  const net = lines.map(({ subtotal, discount }) => subtotal - discount);
  const charge = net.reduce((sum, amount) => sum + Math.max(0, amount), 0);
  const credit = net.reduce((sum, amount) => sum + Math.max(0, -amount), 0);
  return {
    credit: { amount: String(credit), currency_code },
    charge: { amount: String(charge), currency_code },
    result: {
      action: credit > charge ? "credit" : "charge",
      currency_code,
      amount: String(Math.abs(charge - credit)),
    },
  };
}
