import { getFormatter, getTranslations } from "next-intl/server";
import type { PossibleChanges } from "../../../domain/providers/possible-changes.ts";
import { Select } from "../../../ui/field.tsx";
import { SubmitButton } from "../../../ui/submit-button.tsx";
import { ChangeResult, ChangeSteps } from "./change-steps.tsx";
import type { Plan, Price } from "./plans.ts";
import { addressWith } from "./price-tabs.tsx";
import { SeatsField } from "./seats-field.tsx";
import { periodEnd, type Subscription } from "./subscription-state.ts";

/** Changes a running subscription to a plan, its seats or its interval: first the preview, then the confirmation. */
export async function ChangeForm({
  plan,
  price,
  subscription,
  possible,
  paidInterval,
  locale,
}: {
  plan: Plan;
  price: Price | null;
  subscription: Subscription;
  possible: PossibleChanges;
  /** How often it is paid now; `null`: unknown. */
  paidInterval: Price["interval"] | null;
  locale: string;
}) {
  const [t, format] = await Promise.all([getTranslations("billing"), getFormatter()]);
  const { min, max } = plan.seats;
  const isCurrent = plan.id === subscription.planId;
  const inOtherInterval = price && paidInterval && price.interval !== paidInterval ? price : null;
  const name = price ? `${plan.id} ${price.interval}` : plan.id;
  if (isCurrent && inOtherInterval === null && min === max) return <ChangeResult name={name} />;
  const keptSeats = subscription.seats;
  const needsOtherSeats = isCurrent ? inOtherInterval === null : keptSeats < min || keptSeats > max;
  if (!possible.seats && needsOtherSeats)
    return (
      <div className="mt-auto flex flex-col gap-3 border-line border-t pt-4">
        <p className="text-muted text-sm">{t("change.seatsAfterTrial")}</p>
        <ChangeResult name={name} />
      </div>
    );
  const end = periodEnd(subscription, new Date());
  return (
    <ChangeSteps
      name={name}
      backTo={inOtherInterval ? addressWith(inOtherInterval) : "/billing"}
      labels={{
        title: t("change.title"),
        confirm: t("change.confirm"),
        back: t("change.back"),
      }}
    >
      <input type="hidden" name="id" value={subscription.id} />
      {!isCurrent && <input type="hidden" name="planId" value={plan.id} />}
      {inOtherInterval && <input type="hidden" name="interval" value={inOtherInterval.interval} />}
      {possible.seats ? (
        <SeatsField plan={plan} price={price} locale={locale} defaultValue={keptSeats} />
      ) : (
        <input type="hidden" name="seats" value={keptSeats} />
      )}
      {possible.atPeriodEnd ? (
        <Select
          label={t("change.when")}
          name="when"
          defaultValue="now"
          options={[
            { value: "now", label: t("change.now") },
            {
              value: "period_end",
              label:
                end === null
                  ? t("change.periodEnd")
                  : t("change.periodEndOn", { date: format.dateTime(end, { dateStyle: "medium" }) }),
            },
          ]}
        />
      ) : (
        <input type="hidden" name="when" value="now" />
      )}
      <SubmitButton>
        {!isCurrent
          ? t("switchTo", { plan: plan.name })
          : inOtherInterval
            ? t(`switchInterval.${inOtherInterval.interval}`)
            : t("changeSeats")}
      </SubmitButton>
    </ChangeSteps>
  );
}
