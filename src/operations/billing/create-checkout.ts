import { z } from "zod";
import type { BillingTools } from "../../billing/checkout-order.ts";
import { isSubscribed } from "../../billing/is-subscribed.ts";
import { providerOf } from "../../billing/map-provider-errors.ts";
import { openCheckout } from "../../billing/open-checkout.ts";
import { assertSeats, orderedPlan } from "../../billing/ordered-plan.ts";
import { INTERVALS, type Interval, type Plan, priceIdsIn, pricesOf } from "../../domain/plans/plan.ts";
import { format } from "../../domain/refusals/invalid-input.ts";
import { notFound, refuse } from "../../domain/refusals/refusal.ts";
import { SLOTS } from "../../domain/slot.ts";
import { findUser } from "../../store/users/users.ts";
import { defineOperation } from "../operation.ts";
import { assertReturnUrl, type ReturnDeps, ReturnUrl } from "./return-url-view.ts";

export const createCheckout = defineOperation({
  name: "billing.createCheckout",
  summary: "Creates a checkout session; idempotent per plan",
  access: "person",
  permission: "checkout:write",
  limit: "billing",
  input: z.strictObject({
    planId: z.string().min(1).max(50).describe("The plan to buy: its id in `plans.config.ts`."),
    seats: z.int().min(1).optional().describe("The number of seats; defaults to the plan's minimum."),
    provider: z.enum(SLOTS).optional().describe("The provider slot; defaults to the active one."),
    interval: z
      .enum(INTERVALS)
      .optional()
      .describe("How often it is paid; defaults to the plan's first price."),
    currency: z
      .string()
      .regex(/^[A-Z]{3}$/, format("currency"))
      .optional()
      .describe("ISO 4217; defaults to the currency of the plan's first price."),
    returnUrl: ReturnUrl.optional(),
  }),
  reasons: [
    "return_url_not_allowed",
    "plan_unknown",
    "plan_not_sold",
    "plan_not_sold_by",
    "price_not_offered",
    "seats_out_of_range",
    "not_found",
    "subscription_exists",
    "checkout_in_progress",
    "checkout_paid",
    "checkout_not_closed",
    "provider_not_configured",
    "provider_unreachable",
    "provider_rejected",
    "email_known_to_provider",
  ],
  output: z.object({ url: z.url().describe("Where the user pays, at the provider.") }),
  run: async (
    deps: BillingTools & ReturnDeps,
    caller,
    { provider = deps.activeProvider, returnUrl, ...order },
  ) => {
    const { planId } = order;
    assertReturnUrl(deps, returnUrl);
    const plan = orderedPlan(deps.plans, planId);
    const price = chosenPrice(plan, order);
    if (Object.values(price.priceIds).length === 0)
      refuse({ reason: "plan_not_sold", params: { plan: plan.name }, field: "planId" });
    const [priceId] = priceIdsIn(provider, price);
    if (priceId === undefined)
      refuse({ reason: "plan_not_sold_by", params: { plan: plan.name, provider }, field: "provider" });
    const { seats = plan.seats.min } = order;
    assertSeats(plan, seats);
    const api = providerOf(deps.payments, provider);

    const { userId } = caller;
    const { email, emailVerified } = (await findUser(deps.database, userId)) ?? notFound("user");
    if (await isSubscribed(deps, { userId, planId })) refuse({ reason: "subscription_exists" });
    const requested = {
      userId,
      provider,
      planId,
      priceId,
      seats,
      returnUrl: returnUrl ?? null,
    };
    return {
      url: await openCheckout(deps, api, { ...requested, email, isEmailConfirmed: emailVerified }),
    };
  },
});

type PriceChoice = { interval?: Interval | undefined; currency?: string | undefined };

/** The price of this interval and currency; what is left out is that of the plan's first price. */
function chosenPrice(plan: Plan, choice: PriceChoice) {
  const { interval = plan.price.interval, currency = plan.price.currency } = choice;
  const prices = pricesOf(plan);
  const hasInterval = prices.some((price) => price.interval === interval);
  return (
    prices.find((price) => price.interval === interval && price.currency === currency) ??
    refuse({
      reason: "price_not_offered",
      params: { plan: plan.name, interval, currency },
      field: choice.currency !== undefined && hasInterval ? "currency" : "interval",
    })
  );
}
