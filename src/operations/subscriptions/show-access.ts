import { z } from "zod";
import { ACCESS_REASONS, accessOf } from "../../domain/access.ts";
import { type Plan, type PlanCatalog, priceIdsIn, pricesOf, priceWithId } from "../../domain/plan.ts";
import type { Queryable } from "../../store/database.ts";
import { type ScheduledChange, scheduledChangesOfUser } from "../../store/scheduled-changes.ts";
import { type SubscriptionAccess, subscriptionAccessOfUser } from "../../store/subscription-access.ts";
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
    .object({ planId: z.string(), planName: z.string(), seats: z.int(), at: z.date() })
    .nullable()
    .describe("The change scheduled for the end of the period; `null` for none."),
  price: PriceView.nullable().describe("The price per seat; `null` for a price that is no longer sold."),
  paidIn: PriceView.pick({ interval: true, currency: true })
    .nullable()
    .describe("How it is paid, at a former price too; `null`: unknown."),
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
    const [subscriptions, scheduled] = await Promise.all([
      subscriptionAccessOfUser(database, userId),
      scheduledChangesOfUser(database, userId, now),
    ]);
    const nameOf = (planId: string) => plans.find(planId)?.name ?? planId;
    return {
      items: subscriptions.map((subscription) => {
        const plan = plans.find(subscription.planId) ?? null;
        return {
          subscriptionId: subscription.id,
          planId: subscription.planId,
          planName: nameOf(subscription.planId),
          scheduled: scheduledOf(scheduled, subscription.id, nameOf),
          price: plan && paidPrice(plan, subscription),
          paidIn: plan && paidIn(plan, subscription),
          ...accessOf(subscription, plan, now),
        };
      }),
    };
  },
});

function scheduledOf(
  changes: readonly ScheduledChange[],
  id: string,
  nameOf: (planId: string) => string,
): z.input<typeof AccessView>["scheduled"] {
  const change = changes.find(({ subscriptionId }) => subscriptionId === id);
  if (change === undefined) return null;
  const { planId, seats, takesEffectAt } = change;
  return { planId, planName: nameOf(planId), seats, at: takesEffectAt };
}

/** The file keeps a former price's id, not its amount. */
function paidPrice(plan: Plan, { provider, priceId }: SubscriptionAccess): z.input<typeof PriceView> | null {
  if (priceId === null) return plan.price;
  const paid = pricesOf(plan).find((price) => priceIdsIn(provider, price)[0] === priceId);
  return paid ? { amount: paid.amount, currency: paid.currency, interval: paid.interval } : null;
}

function paidIn(
  plan: Plan,
  { provider, priceId }: SubscriptionAccess,
): Pick<z.input<typeof PriceView>, "interval" | "currency"> | null {
  const paid = priceId === null ? plan.price : priceWithId(plan, provider, priceId);
  return paid ? { interval: paid.interval, currency: paid.currency } : null;
}
