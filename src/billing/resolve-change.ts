import { quotaReset } from "../domain/entitlements/granted-access.ts";
import {
  type Interval,
  type Plan,
  type PlanCatalog,
  priceIdsIn,
  pricesOf,
  priceWithId,
} from "../domain/plans/plan.ts";
import type { ChangeOrder, PaymentApi } from "../domain/providers/payment-api.ts";
import { changeObstacle } from "../domain/providers/possible-changes.ts";
import { notFound, refuse } from "../domain/refusals/refusal.ts";
import type { Slot } from "../domain/slot.ts";
import { isChangeable, isRunning } from "../domain/subscriptions/subscription-status.ts";
import type { Queryable } from "../store/database.ts";
import {
  type ChangeableSubscription,
  changeableSubscription,
} from "../store/subscriptions/changeable-subscription.ts";
import { assertQuotas } from "./assert-quotas.ts";
import { ownsPlan } from "./is-subscribed.ts";
import { type ProviderTools, providerOf } from "./map-provider-errors.ts";
import { assertSeats, orderedPlan } from "./ordered-plan.ts";

/** What somebody asks for; what is left out stays as it is. */
export type RequestedChange = {
  /** The subscription's own id. */
  id: string;
  userId: string;
  planId?: string | undefined;
  seats?: number | undefined;
  /** How often it is paid. */
  interval?: Interval | undefined;
  when: "now" | "period_end";
  /** The state that the request was made for. */
  expected?: ExpectedState | undefined;
};

type ExpectedState = { planId: string; seats: number; currentPeriodEnd: string | null };

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
  change: ChangeOrder;
  /** Whether there is anything to do at the provider. */
  isChange: boolean;
  /** Whether a new period begins with it, and with that new quotas. */
  startsPeriod: boolean;
  /** ISO 4217, of what is paid now; `null`: the plan has no such price any more. */
  currency: string | null;
};

/**
 * Within 30 days, at once. Each begins a period with new quotas, and the rest of the former one is credited,
 * however much of its quotas was used: whoever has paid for a year could have any number of them for nothing.
 */
const MAX_INTERVAL_CHANGES = 3;

/** Resolves a request against the subscription as it is stored now. @throws Refusal */
export async function resolveChange(
  { database, plans, payments }: ProviderTools & { database: Queryable; plans: PlanCatalog },
  { id, userId, when, expected, ...requested }: RequestedChange,
): Promise<ResolvedChange> {
  const stored = await changeableSubscription(database, id);
  if (stored === null || stored.userId !== userId) notFound("subscription");
  const { provider, providerSubscriptionId } = stored;
  if (!isRunning(stored.status) || providerSubscriptionId === null) refuse({ reason: "no_subscription" });
  if (!isChangeable(stored.status)) refuse({ reason: "subscription_not_paid" });
  const { interval } = requested;
  if (requested.planId === undefined && requested.seats === undefined && interval === undefined)
    refuse({ reason: "invalid_input", params: { problem: "nothing_to_change" } });

  const planId = requested.planId ?? stored.planId;
  const plan = orderedPlan(plans, planId);
  const currentPlan = plans.find(stored.planId);
  const paid = currentPlan && priceWithId(currentPlan, provider, stored.priceId);
  const keepsPrice = plan.id === stored.planId && (interval === undefined || interval === paid?.interval);
  const keptPriceId = keepsPrice ? stored.priceId : null;
  // Without a price it counts as paid at its plan's first one, as it is shown.
  const presumed = paid ?? (stored.priceId === null ? currentPlan?.price : undefined);
  const priceId = keptPriceId ?? priceToPay(plan, { interval, paid: presumed, provider });
  const seats = requested.seats ?? stored.seats;
  assertSeats(plan, seats);
  if (planId !== stored.planId && (await ownsPlan({ database, plans }, { userId, planId })))
    refuse({ reason: "subscription_exists" });

  const api = providerOf(payments, provider);
  const change: ChangeOrder = {
    when,
    priceId: keepsPrice ? null : priceId,
    currentPriceId: stored.priceId,
    seats: seats === stored.seats ? null : seats,
    resultingSeats: seats,
    resultingPriceId: priceId,
  };
  // Ordering for the next period what is paid now withdraws a scheduled change.
  const isChange = change.priceId !== null || change.seats !== null || when === "period_end";
  const obstacle = isChange ? changeObstacle(stored, change, api.traits) : null;
  if (obstacle !== null) refuse({ reason: "change_not_supported", params: { cause: obstacle } });
  const startsPeriod = isChange && changesInterval(stored, change, { plan, presumed });
  if (startsPeriod && stored.recentIntervalChanges >= MAX_INTERVAL_CHANGES)
    refuse({ reason: "interval_changed_often" });
  if (isChange && when === "now" && currentPlan !== undefined)
    await assertQuotas(
      database,
      { present: currentPlan, next: plan },
      { userId, periodEnd: quotaReset(stored, { plan: currentPlan, traits: api.traits }, new Date()) },
    );
  // One that has been made may be requested again.
  if (isChange && expected !== undefined && !isAsExpected(stored, expected))
    refuse({ reason: "subscription_changed" });
  return {
    api,
    subscription: { id, provider, providerSubscriptionId, userId, currentPeriodEnd: stored.currentPeriodEnd },
    planId,
    change,
    isChange,
    startsPeriod,
    currency: paid?.currency ?? null,
  };
}

/** At once, to a price of another interval; a trial keeps its end. */
function changesInterval(
  { provider, status }: ChangeableSubscription,
  { when, priceId }: ChangeOrder,
  { plan, presumed }: { plan: Plan; presumed: PaidPrice },
): boolean {
  const price = when === "now" && status !== "trialing" ? priceWithId(plan, provider, priceId) : undefined;
  return price !== undefined && presumed !== undefined && price.interval !== presumed.interval;
}

/** Another interval shows in the period's end: a change of it starts a new period. */
function isAsExpected(stored: ChangeableSubscription, expected: ExpectedState): boolean {
  const { planId, seats, currentPeriodEnd } = expected;
  const expectedEnd = currentPeriodEnd === null ? undefined : Date.parse(currentPeriodEnd);
  return (
    planId === stored.planId && seats === stored.seats && expectedEnd === stored.currentPeriodEnd?.getTime()
  );
}

type PaidPrice = Pick<Plan["price"], "interval" | "currency"> | undefined;

/**
 * The id of the plan's price for the interval, in the currency that is paid now. Without an interval: of its
 * price for the interval that is paid now, else of the first price that the slot sells in that currency, else
 * of the first that it sells.
 * @param paid `undefined`: unknown
 * @throws Refusal
 */
function priceToPay(
  plan: Plan,
  { interval, paid, provider }: { interval: Interval | undefined; paid: PaidPrice; provider: Slot },
): string {
  const sold = pricesOf(plan).flatMap((price) => {
    const [id] = priceIdsIn(provider, price);
    return id === undefined ? [] : { ...price, id };
  });
  const [first] = sold;
  if (first === undefined)
    refuse({ reason: "plan_not_sold_by", params: { plan: plan.name, provider }, field: "planId" });
  const currency = paid?.currency ?? plan.price.currency;
  const wanted = interval ?? paid?.interval;
  const price = sold.find((price) => price.interval === wanted && price.currency === currency);
  if (price === undefined && interval !== undefined)
    refuse({
      reason: "price_not_offered",
      params: { plan: plan.name, interval, currency },
      field: "interval",
    });
  return (price ?? sold.find((price) => price.currency === currency) ?? first).id;
}
