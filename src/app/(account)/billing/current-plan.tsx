import { getFormatter, getLocale, getTranslations } from "next-intl/server";
import { freePlan } from "../../../domain/plans/free-plan.ts";
import { Card } from "../../../ui/card.tsx";
import { formatPrice } from "../../../ui/price.ts";
import { Status } from "../../../ui/status.tsx";
import { accessBy } from "../access.ts";
import { milestoneSentence } from "./milestone-sentence.ts";
import { planOf, plans } from "./plans.ts";
import { PortalButton } from "./portal-button.tsx";
import { ScheduledChange } from "./scheduled-change.tsx";
import { TONES } from "./status-tones.ts";
import type { Subscription } from "./subscription-state.ts";

/** The current plan, its price, and what comes next. */
export async function CurrentPlan({ subscription }: { subscription: Subscription }) {
  const [t, locale, format, plan, access, sentence] = await Promise.all([
    getTranslations("billing"),
    getLocale(),
    getFormatter(),
    planOf(subscription.planId),
    accessBy(subscription.id),
    milestoneSentence(subscription),
  ]);
  const { status, seats } = subscription;
  const price = access?.price;
  const isOwed = status === "past_due" || status === "unpaid";
  return (
    <Card
      title={t("current")}
      action={<PortalButton subscriptionId={subscription.id} variant={isOwed ? "primary" : "secondary"} />}
    >
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
        <p className="wrap-anywhere font-semibold text-lg">{plan?.name ?? subscription.planId}</p>
        <Status tone={TONES[status]}>{t(`status.${status}`)}</Status>
      </div>
      <p className={isOwed ? "mt-1 max-w-prose text-bad" : "mt-1 max-w-prose"}>{sentence}</p>
      <ScheduledChange subscription={subscription} />
      <dl className="mt-4 grid grid-cols-2 gap-4 border-line border-t pt-4 sm:grid-cols-4">
        <div>
          <dt className="text-muted text-sm">{t("seats")}</dt>
          <dd className="tabular-nums">{format.number(seats)}</dd>
        </div>
        {price && (
          <div>
            <dt className="text-muted text-sm">{t("pricePerSeat")}</dt>
            <dd className="tabular-nums">
              {t(`price.${price.interval}`, { price: formatPrice(locale, price) })}
            </dd>
          </div>
        )}
      </dl>
    </Card>
  );
}

/** Without a subscription: the free plan, if there is one. */
export async function NoPlan({ endedAs }: { endedAs: Subscription | null }) {
  const t = await getTranslations("billing");
  const free = freePlan(await plans());
  return (
    <Card title={t("current")} {...(endedAs && { action: <PortalButton subscriptionId={endedAs.id} /> })}>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
        <p className="font-semibold text-lg">{free?.name ?? t("none")}</p>
        <Status tone="neutral">{t("noSubscription")}</Status>
      </div>
      <p className="mt-1 max-w-prose">{endedAs ? await milestoneSentence(endedAs) : t("noneYet")}</p>
    </Card>
  );
}
