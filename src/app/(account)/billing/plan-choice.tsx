import { Check } from "lucide-react";
import { getLocale, getTranslations } from "next-intl/server";
import { freePlan } from "../../../domain/plans/free-plan.ts";
import type { PossibleChanges } from "../../../domain/providers/possible-changes.ts";
import { ActionForm } from "../../../ui/action-form.tsx";
import { Card } from "../../../ui/card.tsx";
import { classes } from "../../../ui/classes.ts";
import { PlanGrid } from "../../../ui/plan-grid.tsx";
import { formatPrice } from "../../../ui/price.ts";
import { SubmitButton } from "../../../ui/submit-button.tsx";
import { formAction } from "../../gate/form-action.ts";
import { accessBy } from "../access.ts";
import { createCheckout } from "./actions.ts";
import { ChangeForm } from "./change-form.tsx";
import { ChangeRefusal } from "./change-steps.tsx";
import { oneTimeState, ownedPlans, type Plan, type Price, plans, plansSoldTo } from "./plans.ts";
import { possibleChangesOf } from "./possible-changes.ts";
import { type PriceOption, priceFor } from "./price-for.ts";
import { PriceTabs, priceOptions } from "./price-tabs.tsx";
import { SeatsField } from "./seats-field.tsx";
import { isRunning, type Subscription } from "./subscription-state.ts";

/** The plans side by side. One that runs is changed at the provider, where it is paid. */
export async function PlanChoice({
  subscription,
  selectedId,
  interval,
  currency,
}: {
  subscription: Subscription | null;
  /** The plan that was chosen before signing up. */
  selectedId: string | null;
  /** Of the prices to show; the first ones without them. */
  interval: string | null;
  currency: string | null;
}) {
  const t = await getTranslations("billing");
  const [all, owned] = await Promise.all([plans(), ownedPlans()]);
  const current = isRunning(subscription) ? subscription : null;
  const running = current && (await oneTimeState(current.id)) === null ? current : null;
  const possible = running && (await possibleChangesOf(running));
  const change = running && possible && { subscription: running, possible };
  const access = running && (await accessBy(running.id));
  const paid = access?.paidIn ?? null;
  const paidNow = access?.price ?? null;
  // A change keeps the currency that is paid.
  const offered = change ? await plansSoldTo(change.subscription.id) : all;
  const options = priceOptions(offered.filter((plan) => plan.isForSale)).filter(
    (option) => !running || (change && option.currency === paid?.currency),
  );
  const wanted = options.find((option) => option.interval === interval && option.currency === currency);
  const chosen = wanted ?? (running ? (paid ?? undefined) : options[0]);
  const currentId = subscription?.planId ?? freePlan(all)?.id;
  const shown = offered.filter((plan) => plan.isForSale || plan.id === currentId || owned.has(plan.id));
  const description = running
    ? t("changeInPortal", {
        canChange: change ? "yes" : "no",
        isEnding: running.cancelAtPeriodEnd ? "yes" : "no",
      })
    : t("choose");
  return (
    <Card title={t("plans")} description={description}>
      {!change && <ChangeRefusal />}
      {chosen && <PriceTabs options={options} chosen={chosen} selectedPlan={running ? null : selectedId} />}
      <PlanGrid>
        {shown.map((plan) => (
          <PlanBox
            key={plan.id}
            plan={plan}
            price={
              plan.id === running?.planId && isPaidIn(paid, plan, chosen) ? paidNow : priceFor(plan, chosen)
            }
            isCurrent={plan.id === currentId || owned.has(plan.id)}
            canBeBought={!running && !owned.has(plan.id) && plan.isForSale && plan.price.amount > 0}
            change={
              plan.price.amount > 0 && (plan.id === running?.planId || !owned.has(plan.id)) ? change : null
            }
            paidInterval={paid?.interval ?? null}
            isSelected={!running && plan.id === selectedId}
          />
        ))}
      </PlanGrid>
    </Card>
  );
}

/** Whether what is paid for the plan now is shown, and not what it would cost by another interval. */
function isPaidIn(paid: PriceOption | null, plan: Plan, chosen: PriceOption | undefined): boolean {
  return paid === null || plan.prices.length === 0 || priceFor(plan, chosen).interval === paid.interval;
}

async function PlanBox({
  plan,
  price,
  isCurrent,
  canBeBought,
  change,
  paidInterval,
  isSelected,
}: {
  plan: Plan;
  /** `null`: it is paid at a price that is no longer sold, or in another currency. */
  price: Price | null;
  isCurrent: boolean;
  canBeBought: boolean;
  /** The running subscription, which can be changed to this plan. */
  change: { subscription: Subscription; possible: PossibleChanges } | null;
  /** How often that is paid; `null`: unknown. */
  paidInterval: Price["interval"] | null;
  isSelected: boolean;
}) {
  const [t, locale] = await Promise.all([getTranslations("billing"), getLocale()]);
  return (
    <li
      className={classes(
        "flex flex-col gap-4 rounded-box border p-4",
        isSelected ? "border-2 border-accent" : isCurrent ? "border-accent" : "border-line",
      )}
    >
      <div>
        <div className="flex items-baseline justify-between gap-2">
          <h3 className="font-semibold">{plan.name}</h3>
          {(isCurrent || isSelected) && (
            <p className="font-medium text-accent text-sm">{t(isSelected ? "selected" : "yours")}</p>
          )}
        </div>
        {price && (
          <p className="text-muted tabular-nums">
            {price.amount === 0
              ? t("free")
              : t(`perSeat.${price.interval}`, { price: formatPrice(locale, price) })}
          </p>
        )}
      </div>
      <ul className="flex flex-col gap-1 text-sm">
        {plan.features.map((feature) => (
          <li key={feature} className="flex items-start gap-2">
            <Check aria-hidden="true" size={16} className="mt-0.5 shrink-0 text-muted" />
            {feature}
          </li>
        ))}
      </ul>
      {price && price.amount > 0 && (
        <CheckoutForm plan={plan} price={price} locale={locale} canBeBought={canBeBought} />
      )}
      {change && (
        <ChangeForm plan={plan} price={price} {...change} paidInterval={paidInterval} locale={locale} />
      )}
    </li>
  );
}

/** What another tab has bought meanwhile is refused: the message stays without the fields. */
async function CheckoutForm({
  plan,
  price,
  locale,
  canBeBought,
}: {
  plan: Plan;
  price: Price;
  locale: string;
  canBeBought: boolean;
}) {
  const t = await getTranslations("billing");
  return (
    <ActionForm
      action={formAction(createCheckout)}
      className={
        canBeBought
          ? "mt-auto flex flex-col gap-3 border-line border-t pt-4"
          : "[&:not(:has([data-outcome]))]:hidden"
      }
    >
      {canBeBought && (
        <>
          <input type="hidden" name="planId" value={plan.id} />
          <input type="hidden" name="interval" value={price.interval} />
          <input type="hidden" name="currency" value={price.currency} />
          <SeatsField plan={plan} price={price} locale={locale} defaultValue={plan.seats.min} />
          <SubmitButton>{t("order", { plan: plan.name })}</SubmitButton>
        </>
      )}
    </ActionForm>
  );
}
