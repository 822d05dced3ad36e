import { z } from "zod";
import { mapProviderErrors, providerOf } from "../../billing/ask-provider.ts";
import { type ChangeTools, changeSubscription as change } from "../../billing/change-subscription.ts";
import { type Plan, priceIdsIn, pricesOf, priceWithId } from "../../domain/plan.ts";
import { refuse } from "../../domain/refusal.ts";
import type { Slot } from "../../domain/slot.ts";
import { changeableSubscription } from "../../store/changeable-subscription.ts";
import { findSubscription } from "../../store/subscription-list.ts";
import { defineOperation } from "../operation.ts";
import { SubscriptionView } from "../subscriptions/subscription-view.ts";

const Preview = z
  .object({
    amountDue: z.int().describe("In the currency's smallest unit, charged at `at`; negative: a credit."),
    currency: z.string().describe("ISO 4217."),
    at: z.date().describe("When it is charged."),
  })
  .nullable()
  .describe("What the change costs; `null` where the provider gives none, and without `preview`.");

export const changeSubscription = defineOperation({
  name: "billing.changeSubscription",
  summary: "Changes the plan or the seats of a subscription at its provider, or previews the change",
  access: "person",
  permission: "checkout:write",
  limit: "billing",
  input: z.strictObject({
    id: SubscriptionView.shape.id,
    planId: z.string().min(1).max(50).optional().describe("The new plan; unchanged if omitted."),
    seats: z.int().min(1).optional().describe("The new number of seats; unchanged if omitted."),
    when: z
      .enum(["now", "period_end"])
      .describe(
        "When the change takes effect. `period_end` with the current plan and seats withdraws a scheduled change.",
      ),
    preview: z
      .boolean()
      .default(false)
      .describe("Whether to only preview the cost, without changing anything."),
  }),
  reasons: [
    "not_found",
    "no_subscription",
    "plan_unknown",
    "plan_not_sold_by",
    "seats_out_of_range",
    "change_not_supported",
    "checkout_in_progress",
    "provider_not_configured",
    "provider_unreachable",
    "provider_rejected",
    "email_known_to_provider",
  ],
  output: z.object({
    subscription: SubscriptionView.describe("The subscription afterwards."),
    preview: Preview,
  }),
  run: async (deps: ChangeTools, { userId }, { id, when, preview, ...requested }) => {
    const stored = await changeableSubscription(deps.database, id);
    if (stored === null || stored.userId !== userId)
      refuse({ reason: "not_found", params: { resource: "subscription" } });
    const { providerSubscriptionId, provider } = stored;
    if (!["active", "trialing", "past_due"].includes(stored.status) || providerSubscriptionId === null)
      refuse({ reason: "no_subscription" });
    if (requested.planId === undefined && requested.seats === undefined)
      refuse({ reason: "invalid_input", params: { problem: "nothing_to_change" } });

    const plan =
      deps.plans.plans.find((candidate) => candidate.id === (requested.planId ?? stored.planId)) ??
      refuse({
        reason: "plan_unknown",
        params: { planId: requested.planId ?? stored.planId },
        field: "planId",
      });
    const seats = requested.seats ?? stored.seats;
    if (seats < plan.seats.min || seats > plan.seats.max)
      refuse({ reason: "seats_out_of_range", params: { plan: plan.name, ...plan.seats }, field: "seats" });
    const currentPlan = deps.plans.plans.find((candidate) => candidate.id === stored.planId);
    const stays = plan.id === stored.planId ? stored.priceId : null;
    const priceId = stays ?? priceLike(plan, currentPlan, provider, stored.priceId);
    if (priceId === null)
      refuse({ reason: "plan_not_sold_by", params: { plan: plan.name, provider }, field: "planId" });

    const api = providerOf(deps.payments, provider);
    // A subscription that ends then has no next period to change.
    if (when === "period_end" && (!api.traits.changesAtPeriodEnd || stored.cancelAtPeriodEnd))
      refuse({ reason: "change_not_supported" });
    const changed = {
      when,
      priceId: plan.id === stored.planId ? null : priceId,
      currentPriceId: stored.priceId,
      seats: seats === stored.seats ? null : seats,
      resultingSeats: seats,
      resultingPriceId: priceId,
    };
    const facts = { slot: provider, userId };
    // What is paid now, ordered for the next period, withdraws a change that waits.
    const isChange = changed.priceId !== null || changed.seats !== null || when === "period_end";
    const currency = currentPlan && priceWithId(currentPlan, provider, stored.priceId)?.currency;
    // Providers quote the next renewal when nothing changes.
    const previewed = !preview
      ? null
      : isChange || currency === undefined
        ? await mapProviderErrors(deps, facts, api.previewChange(providerSubscriptionId, changed))
        : { amountDue: 0, currency, at: new Date() };
    if (!preview && isChange)
      await change(deps, api, { ...stored, planId: plan.id, providerSubscriptionId, userId }, changed);
    const subscription =
      (await findSubscription(deps.database, id)) ??
      refuse({ reason: "not_found", params: { resource: "subscription" } });
    return { subscription, preview: previewed };
  },
});

/** The new plan's price with the interval and currency of the one that is paid now, else its first. */
function priceLike(plan: Plan, current: Plan | undefined, slot: Slot, priceId: string | null): string | null {
  const paid = current && priceWithId(current, slot, priceId);
  const prices = pricesOf(plan);
  const alike = prices.find(
    (price) => paid && price.interval === paid.interval && price.currency === paid.currency,
  );
  return priceIdsIn(slot, alike ?? prices[0] ?? { priceIds: {} })[0] ?? null;
}
