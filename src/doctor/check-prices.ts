import { errorText } from "../domain/error-text.ts";
import { type PlanCatalog, priceIdsIn, pricesOf } from "../domain/plans/plan.ts";
import type { PaymentApi } from "../domain/providers/payment-api.ts";
import { PaymentApiProblem } from "../domain/providers/payment-api-problem.ts";
import type { ProviderTraits } from "../domain/providers/provider-traits.ts";
import { SLOTS, type Slot } from "../domain/slot.ts";
import { broken, type Finding, good, skipped, warning } from "./finding.ts";
import { providerProblem } from "./provider-problem.ts";

/** Whether every plan that is for sale can be bought in the active slot. */
export function checkPlans(plans: PlanCatalog, activeProvider: Slot): Finding {
  const sold = plans.plans.filter((plan) =>
    pricesOf(plan).some((price) => SLOTS.some((slot) => priceIdsIn(slot, price).length > 0)),
  );
  if (sold.length === 0)
    return warning("plans", "no plan has a price id", "Give plans in plans.config.ts their price ids.");
  const without = sold.flatMap((plan) =>
    pricesOf(plan)
      .filter((price) => priceIdsIn(activeProvider, price).length === 0)
      .map(({ interval, currency }) => `${plan.id} (${interval}, ${currency})`),
  );
  if (without.length === 0) return good("plans", `${sold.length} sold by ${activeProvider}`);
  const remedy = `Add priceIds for ${activeProvider} in plans.config.ts, or choose another ACTIVE_PROVIDER.`;
  return broken("plans", `not sold by ${activeProvider}: ${without.join(", ")}`, remedy);
}

/** Whether the trials of plans.config.ts start in this slot; `null`: nothing is wrong with them. */
export function checkTrials(
  plans: PlanCatalog,
  slot: Slot,
  { name, checkout }: ProviderTraits,
): Finding | null {
  if (checkout.takesTrialDays) return null;
  const concerned = plans.plans.filter(
    (plan) => plan.trialDays > 0 && pricesOf(plan).some((price) => priceIdsIn(slot, price).length > 0),
  );
  if (concerned.length === 0) return null;
  const planList = concerned.map(({ id, trialDays }) => `${id} (${trialDays} days)`).join(", ");
  return warning(
    `${slot} trials`,
    `not started by checkouts of ${name}: ${planList}`,
    `Set the same trial at the price in ${name}: there, a trial belongs to the price or variant.`,
  );
}

/** Whether the provider knows the price ids that plans.config.ts has for its slot. */
export async function checkPrices(plans: PlanCatalog, slot: Slot, api: PaymentApi): Promise<Finding> {
  const check = `${slot} prices`;
  const ids = plans.plans.flatMap((plan) => pricesOf(plan).flatMap((price) => priceIdsIn(slot, price)));
  if (ids.length === 0) return skipped(check, "no plan has a price id");
  try {
    const unknownIds: string[] = [];
    for (const id of ids) if (!(await api.knowsPrice(id))) unknownIds.push(id);
    if (unknownIds.length === 0) return good(check, `${ids.length} known to the provider`);
    const remedy =
      "Put the provider's own ids into plans.config.ts, or map them with PLANS_PRICE_IDS: test and live mode have different ones.";
    return broken(check, `unknown to the provider: ${unknownIds.join(", ")}`, remedy);
  } catch (error) {
    if (!(error instanceof PaymentApiProblem))
      return broken(check, errorText(error), "This is a defect: please report it.");
    const { detail, remedy } = providerProblem(error);
    return warning(check, `could not be checked: ${detail}`, remedy);
  }
}
