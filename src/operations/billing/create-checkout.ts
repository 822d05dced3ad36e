import { z } from "zod";
import { refuse } from "../../domain/refusal.ts";
import { SLOTS } from "../../domain/slot.ts";
import { isSubscribed } from "../../store/customers.ts";
import { findUser } from "../../store/users.ts";
import { defineOperation } from "../operation.ts";
import { providerOf } from "./ask-provider.ts";
import { type BillingTools, NO_SUCH_USER, openCheckout } from "./open-checkout.ts";

export const createCheckout = defineOperation({
  name: "billing.createCheckout",
  summary: "Opens a checkout at the payment provider and tells where; asked for again, the same one",
  access: "person",
  limit: "billing",
  input: z.strictObject({
    planId: z.string().min(1).max(50),
    seats: z.int().min(1).optional().describe("The plan's smallest number unless given."),
    provider: z.enum(SLOTS).optional().describe("The operator's choice unless given."),
  }),
  output: z.object({ url: z.url() }),
  run: async (deps: BillingTools, caller, { planId, seats, provider = deps.activeProvider }) => {
    const plan =
      deps.plans.plans.find((one) => one.id === planId) ??
      refuse("invalid_input", `planId: there is no plan "${planId}"`);
    if (Object.keys(plan.priceIds).length === 0) refuse("invalid_input", `planId: ${plan.name} is not sold`);
    if (seats !== undefined && (seats < plan.seats.min || seats > plan.seats.max)) {
      refuse("invalid_input", `seats: ${plan.name} has ${plan.seats.min} to ${plan.seats.max}`);
    }
    const api = providerOf(deps.payments, provider);
    const [priceId] = [plan.priceIds[provider] ?? []].flat();
    if (priceId === undefined) refuse("invalid_input", `provider: ${plan.name} is not sold by ${provider}`);

    const { userId } = caller;
    const { email, emailVerified } =
      (await findUser(deps.database, userId)) ?? refuse("not_found", NO_SUCH_USER);
    if (await isSubscribed(deps.database, userId)) refuse("conflict", SUBSCRIBED);
    const wanted = { userId, provider, planId, priceId, seats: seats ?? plan.seats.min };
    return { url: await openCheckout(deps, api, { ...wanted, email, isEmailConfirmed: emailVerified }) };
  },
});

const SUBSCRIBED = "There is a subscription already: change or cancel it in the billing portal.";
