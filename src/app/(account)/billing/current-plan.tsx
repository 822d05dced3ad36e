import { getFormatter, getLocale, getTranslations } from "next-intl/server";
import { Card } from "../../../ui/card.tsx";
import { formatPrice } from "../../../ui/price.ts";
import { Status } from "../../../ui/status.tsx";
import { nextSentence } from "./next-sentence.ts";
import { planOf, plans } from "./plans.ts";
import { PortalButton } from "./portal-button.tsx";
import type { Subscription } from "./standing.ts";
import { TONES } from "./status-tones.ts";

/** What one has, what it costs, and what comes next. */
export async function CurrentPlan({ subscription }: { subscription: Subscription }) {
  const [words, locale, format, plan, sentence] = await Promise.all([
    getTranslations("billing"),
    getLocale(),
    getFormatter(),
    planOf(subscription.planId),
    nextSentence(subscription),
  ]);
  const { status, seats } = subscription;
  const isOwed = status === "past_due" || status === "unpaid";
  return (
    <Card
      title={words("current")}
      action={<PortalButton subscriptionId={subscription.id} look={isOwed ? "main" : "plain"} />}
    >
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
        <p className="font-semibold text-lg">{plan?.name ?? subscription.planId}</p>
        <Status tone={TONES[status]}>{words(`status.${status}`)}</Status>
      </div>
      <p className={isOwed ? "mt-1 max-w-prose text-bad" : "mt-1 max-w-prose"}>{sentence}</p>
      <dl className="mt-4 grid grid-cols-2 gap-4 border-line border-t pt-4 sm:grid-cols-4">
        <div>
          <dt className="text-muted text-sm">{words("seats")}</dt>
          <dd className="tabular-nums">{format.number(seats)}</dd>
        </div>
        {plan && (
          <div>
            <dt className="text-muted text-sm">{words("pricePerSeat")}</dt>
            <dd className="tabular-nums">
              {words(`price.${plan.price.interval}`, { price: formatPrice(locale, plan.price) })}
            </dd>
          </div>
        )}
      </dl>
    </Card>
  );
}

/** Without a subscription: the plan that costs nothing, if there is one. */
export async function NoPlan({ endedAs }: { endedAs: Subscription | null }) {
  const words = await getTranslations("billing");
  const free = (await plans()).find((plan) => plan.price.amount === 0);
  return (
    <Card title={words("current")} {...(endedAs && { action: <PortalButton subscriptionId={endedAs.id} /> })}>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
        <p className="font-semibold text-lg">{free?.name ?? words("none")}</p>
        <Status tone="neutral">{words("noSubscription")}</Status>
      </div>
      <p className="mt-1 max-w-prose">{endedAs ? await nextSentence(endedAs) : words("noneYet")}</p>
    </Card>
  );
}
