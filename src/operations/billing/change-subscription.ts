import { z } from "zod";
import { changeSubscription as change, previewChange } from "../../billing/change-subscription.ts";
import type { ProviderTools } from "../../billing/map-provider-errors.ts";
import { type ResolvedChange, resolveChange } from "../../billing/resolve-change.ts";
import { INTERVALS, type PlanCatalog } from "../../domain/plans/plan.ts";
import { notFound } from "../../domain/refusals/refusal.ts";
import { TimeInput } from "../../domain/time-input.ts";
import type { Intake } from "../../intake/intake.ts";
import type { Queryable } from "../../store/database.ts";
import { findSubscription } from "../../store/subscriptions/subscription-list.ts";
import { defineOperation } from "../operation.ts";
import { SubscriptionView } from "../subscriptions/subscription-view.ts";

type ChangeTools = ProviderTools & { database: Queryable; intake: Intake; plans: PlanCatalog };

/** What the cost of a change depends on. */
export const ExpectedSubscription = z.strictObject({
  planId: SubscriptionView.shape.planId,
  seats: SubscriptionView.shape.seats,
  currentPeriodEnd: TimeInput.nullable()
    .default(null)
    .describe("When the paid period ends; `null` or omitted: not known."),
});

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
  summary: "Changes a subscription's plan, seats or billing interval at its provider, or previews the change",
  access: "person",
  permission: "checkout:write",
  limit: "billing",
  input: z.strictObject({
    id: SubscriptionView.shape.id,
    planId: z.string().min(1).max(50).optional().describe("The new plan; unchanged if omitted."),
    seats: z.int().min(1).optional().describe("The new number of seats; unchanged if omitted."),
    interval: z
      .enum(INTERVALS)
      .optional()
      .describe("How often it is paid from then on, in the same currency; unchanged if omitted."),
    when: z
      .enum(["now", "period_end"])
      .describe(
        "When the change takes effect. `period_end` with everything as it is withdraws a scheduled change.",
      ),
    preview: z
      .boolean()
      .default(false)
      .describe("Whether to only preview the cost, without changing anything."),
    expected: ExpectedSubscription.optional().describe(
      "The subscription as it was in the preview: refused with `subscription_changed` if it is not so any more.",
    ),
  }),
  reasons: [
    "not_found",
    "no_subscription",
    "subscription_not_paid",
    "plan_unknown",
    "plan_not_sold_by",
    "price_not_offered",
    "seats_out_of_range",
    "subscription_exists",
    "change_not_supported",
    "payment_declined",
    "interval_changed_often",
    "plan_includes_less",
    "subscription_changed",
    "checkout_in_progress",
    "provider_not_configured",
    "provider_unreachable",
    "provider_rejected",
    "change_incomplete",
    "email_known_to_provider",
  ],
  output: z.object({
    subscription: SubscriptionView.describe("The subscription afterwards."),
    preview: Preview,
  }),
  run: async (deps: ChangeTools, caller, { id, preview, ...requested }) => {
    const { userId } = caller;
    const resolve = () => resolveChange(deps, { id, userId, ...requested });
    const found = async () => (await findSubscription(deps.database, id)) ?? notFound("subscription");
    if (preview) {
      const resolved = await resolve();
      // Before the provider is asked: what changes meanwhile may not be in its preview.
      const subscription = await found();
      return { subscription, preview: await previewOf(deps, resolve, resolved) };
    }
    await change(deps, resolve, { isPreviewed: requested.expected !== undefined, by: caller });
    return { subscription: await found(), preview: null };
  },
});

/** When nothing changes, providers would quote the next renewal. */
async function previewOf(
  deps: ChangeTools,
  resolve: () => Promise<ResolvedChange>,
  resolved: ResolvedChange,
): Promise<z.input<typeof Preview>> {
  const { isChange, currency } = resolved;
  if (isChange) return previewChange(deps, resolve, resolved);
  return currency === null ? null : { amountDue: 0, currency, at: new Date() };
}
