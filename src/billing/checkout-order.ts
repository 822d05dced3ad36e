import type { PlanCatalog } from "../domain/plans/plan.ts";
import type { CheckoutOrder } from "../domain/providers/payment-api.ts";
import type { Slot } from "../domain/slot.ts";
import type { Intake } from "../intake/intake.ts";
import type { Queryable } from "../store/database.ts";
import type { WantedCheckout } from "../store/subscriptions/checkouts.ts";
import type { ProviderTools } from "./map-provider-errors.ts";
import { trialDaysOf } from "./trial-days.ts";

export type BillingTools = ProviderTools & {
  database: Queryable;
  intake: Intake;
  plans: PlanCatalog;
  activeProvider: Slot;
  /** The public origin, without a slash at the end. */
  appUrl: string;
};

export type Order = WantedCheckout & Pick<CheckoutOrder, "email" | "isEmailConfirmed">;

/** The order as sent to the provider, for a new customer. */
export async function checkoutOrder(
  deps: BillingTools,
  { provider: _, returnUrl, ...order }: Order,
  idempotencyKey: string,
): Promise<Omit<CheckoutOrder, "customerId"> & { customerId: null }> {
  const { appUrl } = deps;
  return {
    ...order,
    idempotencyKey,
    customerId: null,
    successUrl: returnUrl ?? `${appUrl}/billing?checkout=completed`,
    cancelUrl: returnUrl ?? `${appUrl}/billing?checkout=cancelled`,
    trialDays: await trialDaysOf(deps, order),
  };
}
