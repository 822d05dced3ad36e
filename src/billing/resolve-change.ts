import type { PaymentApi, SubscriptionChange } from "../domain/payment-api.ts";
import { type Plan, type PlanCatalog, priceIdsIn, pricesOf, priceWithId } from "../domain/plan.ts";
import { notFound, refuse } from "../domain/refusal.ts";
import type { Slot } from "../domain/slot.ts";
import { isChangeable } from "../domain/subscription-status.ts";
import { changeableSubscription } from "../store/changeable-subscription.ts";
import type { Queryable } from "../store/database.ts";
import { type ProviderTools, providerOf } from "./ask-provider.ts";
import { assertSeats, orderedPlan } from "./ordered-plan.ts";

/** What somebody asks for; what is left out stays as it is. */
export type RequestedChange = {
  /** The subscription's own id. */
  id: string;
  userId: string;
  planId?: string | undefined;
  seats?: number | undefined;
  when: "now" | "period_end";
};

export type ResolvedChange = {
  api: PaymentApi;
  subscription: {
    id: string;
    provider: Slot;
    providerSubscriptionId: string;
    userId: string;
    currentPeriodEnd: Date | null;
  };
  /** The plan after the change. */
  planId: string;
  change: SubscriptionChange;
  /** Whether there is anything to do at the provider. */
  isChange: boolean;
  /** ISO 4217, of what is paid now; `null`: the plan has no such price any more. */
  currency: string | null;
};

/** Resolves a request against the subscription as it is stored now. @throws Refusal */
export async function resolveChange(
  { database, plans, payments }: ProviderTools & { database: Queryable; plans: PlanCatalog },
  { id, userId, when, ...requested }: RequestedChange,
): Promise<ResolvedChange> {
  const stored = await changeableSubscription(database, id);
  if (stored === null || stored.userId !== userId) notFound("subscription");
  const { provider, providerSubscriptionId } = stored;
  if (!isChangeable(stored.status) || providerSubscriptionId === null) refuse({ reason: "no_subscription" });
  if (requested.planId === undefined && requested.seats === undefined)
    refuse({ reason: "invalid_input", params: { problem: "nothing_to_change" } });

  const planId = requested.planId ?? stored.planId;
  const plan = orderedPlan(plans, planId);
  const currentPlan = plans.find(stored.planId);
  const keepsPlan = plan.id === stored.planId;
  const keptPrice = keepsPlan ? stored.priceId : null;
  const priceId = keptPrice ?? priceLike(plan, currentPlan, provider, stored.priceId);
  if (priceId === null)
    refuse({ reason: "plan_not_sold_by", params: { plan: plan.name, provider }, field: "planId" });
  const seats = requested.seats ?? stored.seats;
  assertSeats(plan, seats);

  const api = providerOf(payments, provider);
  // A subscription that ends then has no next period to change.
  if (when === "period_end" && (!api.traits.changesAtPeriodEnd || stored.cancelAtPeriodEnd))
    refuse({ reason: "change_not_supported" });
  const change: SubscriptionChange = {
    when,
    priceId: keepsPlan ? null : priceId,
    currentPriceId: stored.priceId,
    seats: seats === stored.seats ? null : seats,
    resultingSeats: seats,
    resultingPriceId: priceId,
  };
  return {
    api,
    subscription: { id, provider, providerSubscriptionId, userId, currentPeriodEnd: stored.currentPeriodEnd },
    planId,
    change,
    // Ordering the present plan and seats for the next period withdraws a scheduled change.
    isChange: change.priceId !== null || change.seats !== null || when === "period_end",
    currency: (currentPlan && priceWithId(currentPlan, provider, stored.priceId)?.currency) ?? null,
  };
}

/**
 * Of the new plan's prices that the slot sells, the one with the interval and currency of what is paid now,
 * else the first; `null`: it sells none.
 */
function priceLike(plan: Plan, current: Plan | undefined, slot: Slot, priceId: string | null): string | null {
  const paid = current && priceWithId(current, slot, priceId);
  const prices = pricesOf(plan).filter((price) => priceIdsIn(slot, price).length > 0);
  const alike = prices.find(
    (price) => paid && price.interval === paid.interval && price.currency === paid.currency,
  );
  const chosen = alike ?? prices[0];
  return (chosen && priceIdsIn(slot, chosen)[0]) ?? null;
}
