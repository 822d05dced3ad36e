import type { Failure } from "../deliveries/failures.ts";
import type { PaidItem } from "../plans/paid-item.ts";
import { type PlanCatalog, pricesForSale } from "../plans/plan.ts";
import type { Slot } from "../slot.ts";
import type { Subscription } from "../subscriptions/subscription.ts";
import { shorten } from "./decide-context.ts";
import type { SubscriptionEvent } from "./subscription-event.ts";

export type PlanChoice = { id: string; priceId: string | null; seats: number | null; problem?: Failure };

/**
 * A configured price takes precedence: metadata keeps the checkout's plan after a change at the provider. So
 * does the price that is already paid where its plan is no longer sold anywhere.
 */
export function planOf(
  slot: Slot,
  event: SubscriptionEvent,
  before: Subscription | null,
  plans: PlanCatalog,
): PlanChoice | { failure: Failure } {
  const sold = plans.sold(slot, event.items);
  if (sold) return { id: sold.planId, priceId: sold.priceId, seats: sold.item.seats };
  const kept = before && keptItem(before, event);
  if (before && kept && isRetired(before.planId, plans))
    return { id: before.planId, priceId: before.priceId, seats: kept.seats };

  const first = event.items[0];
  const priceId = first?.priceIds[0] ?? null;
  const seats = first?.seats ?? null;
  const isEnd = event.kind === "customer.subscription.deleted";
  const named = event.planId === null ? undefined : plans.find(event.planId);
  if (named) {
    // Who has the plan keeps it.
    const isRefused = named.unknownPrices === "refuse" && before?.planId !== named.id;
    if (priceId === null || !(isRefused || (before && hasKnownPrice(slot, before, plans))))
      return { id: named.id, priceId, seats };
    if (before === null) return { failure: unknownPrice(slot, priceId) };
    // The metadata was written before the price changed, or not by us.
    const paid = { id: before.planId, priceId: before.priceId, seats };
    return isEnd ? paid : { ...paid, problem: unknownPrice(slot, priceId) };
  }
  // A known subscription must be able to end even if its plan is unknown.
  if (before && isEnd) return { id: before.planId, priceId: before.priceId ?? priceId, seats };
  if (event.planId !== null)
    return { failure: { reason: "plan_unknown", params: { planId: shorten(event.planId) } } };
  if (before && (priceId === null || before.priceId === null || first?.priceIds.includes(before.priceId))) {
    return { id: before.planId, priceId, seats };
  }
  if (priceId === null) return { failure: { reason: "plan_not_named" } };
  return { failure: unknownPrice(slot, priceId) };
}

/**
 * Whether it is about something else that the provider's account sells: it names a price, and neither that nor what
 * our checkouts leave in it is of a plan.
 */
export function isOfAnotherProduct(
  slot: Slot,
  { planId, items }: Pick<SubscriptionEvent, "planId" | "items">,
  plans: PlanCatalog,
): boolean {
  const namesPrice = items.some(({ priceIds }) => priceIds.length > 0);
  return planId === null && namesPrice && plans.sold(slot, items) === null;
}

function unknownPrice(slot: Slot, priceId: string): Failure {
  return { reason: "price_unknown", params: { priceId: shorten(priceId), provider: slot } };
}

/** The item whose price has not changed. */
function keptItem({ priceId }: Subscription, { items }: SubscriptionEvent): PaidItem | undefined {
  return priceId === null ? undefined : items.find(({ priceIds }) => priceIds.includes(priceId));
}

/** Who has it may have changed to it, so that metadata names another plan. */
function isRetired(planId: string, plans: PlanCatalog): boolean {
  const plan = plans.find(planId);
  return plan === undefined || pricesForSale(plan).length === 0;
}

/** Whether it was paid for at a price of our plans. */
function hasKnownPrice(slot: Slot, { priceId }: Subscription, plans: PlanCatalog): boolean {
  return priceId !== null && plans.sold(slot, [{ priceIds: [priceId], seats: null }]) !== null;
}
