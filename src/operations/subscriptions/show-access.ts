import { z } from "zod";
import { ACCESS_REASONS, accessOf } from "../../domain/entitlements/access.ts";
import { priceIfChargedIn } from "../../domain/plans/charged-price.ts";
import {
  INTERVALS,
  type Plan,
  type PlanCatalog,
  priceIdsIn,
  pricesOf,
  priceWithId,
} from "../../domain/plans/plan.ts";
import type { Queryable } from "../../store/database.ts";
import { chargedCurrenciesOfUser } from "../../store/payments/charged-currencies.ts";
import { type ScheduledChange, scheduledChangesOfUser } from "../../store/subscriptions/scheduled-changes.ts";
import {
  type SubscriptionAccess,
  subscriptionAccessOfUser,
} from "../../store/subscriptions/subscription-access.ts";
import { defineOperation } from "../operation.ts";
import { PriceView } from "../plans/price-view.ts";

const AccessView = z.object({
  subscriptionId: z.uuid(),
  planId: z.string(),
  planName: z.string(),
  hasAccess: z.boolean(),
  until: z.date().nullable().describe("When access ends unless something changes."),
  reason: z.enum(ACCESS_REASONS),
  scheduled: z
    .object({
      planId: z.string(),
      planName: z.string(),
      seats: z.int(),
      interval: z.enum(INTERVALS).nullable().describe("`null`: stays as it is."),
      at: z.date(),
    })
    .nullable()
    .describe("The change scheduled for the end of the period; `null` for none."),
  isOneTime: z.boolean().describe("Whether a single payment bought it: it neither renews nor changes."),
  pausesAtPeriodEnd: z.boolean().describe("Whether its provider pauses it then instead of renewing it."),
  price: PriceView.nullable().describe(
    "The price per seat; `null` for a price that is no longer sold, is charged in another currency, or was paid once.",
  ),
  paidIn: PriceView.pick({ interval: true, currency: true })
    .nullable()
    .describe("The interval and currency of its price, a former one too; `null`: unknown, or paid once."),
  chargedCurrency: z
    .string()
    .nullable()
    .describe("ISO 4217, of its latest payment: may differ from the price's; `null`: none yet."),
  sold: z
    .array(PriceView.pick({ interval: true, currency: true }).extend({ planId: z.string() }))
    .describe("The prices that its provider sells: none of another can be changed to."),
});

export const showAccess = defineOperation({
  name: "subscriptions.access",
  summary: "Shows whether each of the caller's running subscriptions gives access, and why",
  access: "person",
  limit: "api",
  input: z.strictObject({}),
  reasons: [],
  output: z.object({ items: z.array(AccessView) }),
  run: async ({ database, plans }: { database: Queryable; plans: PlanCatalog }, { userId }) => {
    const now = new Date();
    const [subscriptions, scheduled, currencies] = await Promise.all([
      subscriptionAccessOfUser(database, userId),
      scheduledChangesOfUser(database, userId, now),
      chargedCurrenciesOfUser(database, userId),
    ]);
    return {
      items: subscriptions.map((subscription) => {
        const plan = plans.find(subscription.planId) ?? null;
        const { isOneTime } = subscription;
        const renewed = isOneTime ? null : plan;
        const paid = renewed && paidIn(renewed, subscription);
        const chargedCurrency = currencies.get(subscription.id) ?? null;
        const change = scheduled.find(({ subscriptionId }) => subscriptionId === subscription.id);
        return {
          subscriptionId: subscription.id,
          planId: subscription.planId,
          planName: plan?.name ?? subscription.planId,
          scheduled: change ? scheduledOf(plans, subscription, paid, change) : null,
          isOneTime,
          pausesAtPeriodEnd: subscription.pausesAtPeriodEnd,
          price: renewed && priceIfChargedIn(paidPrice(renewed, subscription), chargedCurrency),
          paidIn: paid,
          chargedCurrency,
          sold: isOneTime ? [] : soldBy(plans, subscription),
          ...accessOf(subscription, plan, now),
        };
      }),
    };
  },
});

function scheduledOf(
  plans: PlanCatalog,
  { provider }: SubscriptionAccess,
  paid: PaidIn | null,
  { planId, priceId, seats, takesEffectAt }: ScheduledChange,
): z.input<typeof AccessView>["scheduled"] {
  const plan = plans.find(planId);
  const price = plan && priceWithId(plan, provider, priceId);
  const interval = price && price.interval !== paid?.interval ? price.interval : null;
  return { planId, planName: plan?.name ?? planId, seats, interval, at: takesEffectAt };
}

/** The file keeps a former price's id, not its amount. */
function paidPrice(plan: Plan, { provider, priceId }: SubscriptionAccess): z.input<typeof PriceView> | null {
  if (priceId === null) return plan.price;
  const paid = pricesOf(plan).find((price) => priceIdsIn(provider, price)[0] === priceId);
  return paid ? { amount: paid.amount, currency: paid.currency, interval: paid.interval } : null;
}

type PaidIn = Pick<z.input<typeof PriceView>, "interval" | "currency">;

function paidIn(plan: Plan, { provider, priceId }: SubscriptionAccess): PaidIn | null {
  const paid = priceId === null ? plan.price : priceWithId(plan, provider, priceId);
  return paid ? { interval: paid.interval, currency: paid.currency } : null;
}

function soldBy(
  { plans }: PlanCatalog,
  { provider }: SubscriptionAccess,
): z.input<typeof AccessView>["sold"] {
  return plans.flatMap((plan) =>
    pricesOf(plan)
      .filter((price) => priceIdsIn(provider, price).length > 0)
      .map(({ interval, currency }) => ({ planId: plan.id, interval, currency })),
  );
}
