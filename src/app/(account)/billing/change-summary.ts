import { getFormatter, getLocale, getTranslations } from "next-intl/server";
import type { z } from "zod";
import { priceIfChargedIn } from "../../../domain/plans/charged-price.ts";
import type { changeSubscription } from "../../../operations/billing/change-subscription.ts";
import { formatPrice } from "../../../ui/price.ts";
import { accessBy } from "../access.ts";
import type { ChangeStep } from "./change-steps.tsx";
import { planName, planOf } from "./plans.ts";
import { periodEnd } from "./subscription-state.ts";

type Changed = z.input<typeof changeSubscription.output>;
type Order = {
  planId: string | null;
  seats: string | null;
  /** `null`: as it is paid now. */
  interval: string | null;
  isAtOnce: boolean;
};

/** What a change is, costs and when, for the person to confirm. */
export async function previewLines(
  { subscription, preview }: Changed,
  { planId, seats, interval, isAtOnce }: Order,
): Promise<Extract<ChangeStep, { step: "preview" }>["lines"]> {
  const [t, format, locale, plan] = await Promise.all([
    getTranslations("billing"),
    getFormatter(),
    getLocale(),
    planName(planId ?? subscription.planId),
  ]);
  const now = new Date();
  const stated =
    preview ?? (isAtOnce ? null : await priceOfPeriod(subscription, { planId, seats, interval }));
  const end = preview?.at ?? periodEnd(subscription, now);
  const periodEndText = end === null ? t("change.periodEnd") : format.dateTime(end, { dateStyle: "long" });
  return [
    { label: t("change.plan"), value: plan },
    { label: t("seats"), value: format.number(Number(seats ?? subscription.seats)) },
    ...(interval === "month" || interval === "year"
      ? [{ label: t("intervals.title"), value: t(`intervals.${interval}`) }]
      : []),
    // Not today's date: where the reader is, it may be another day already.
    { label: t("change.takesEffect"), value: isAtOnce ? t("change.now") : periodEndText },
    ...amountLines(),
  ];

  function amountLines() {
    if (stated === null) {
      return isAtOnce ? [{ label: t("change.amountDue"), value: t("change.amountUnknown") }] : [];
    }
    const { amountDue, currency } = stated;
    const amount = formatPrice(locale, { amount: Math.abs(amountDue), currency });
    return [{ label: t(amountDue < 0 ? "change.credit" : "change.amountDue"), value: amount }];
  }
}

/** What the next period costs, without discounts; `null`: not known. No difference is charged at its start. */
async function priceOfPeriod(
  subscription: Changed["subscription"],
  { planId, seats, interval }: Omit<Order, "isAtOnce">,
): Promise<{ amountDue: number; currency: string } | null> {
  const [plan, access] = await Promise.all([
    planOf(planId ?? subscription.planId),
    accessBy(subscription.id),
  ]);
  const paid = access?.paidIn;
  const isKept = plan?.id === subscription.planId && (interval === null || interval === paid?.interval);
  const wanted = paid && { currency: paid.currency, interval: interval ?? paid.interval };
  const listed = plan?.prices.find(
    (one) => one.interval === wanted?.interval && one.currency === wanted.currency,
  );
  const price = priceIfChargedIn((isKept ? access?.price : listed) ?? null, access?.chargedCurrency ?? null);
  return price && { amountDue: price.amount * Number(seats ?? subscription.seats), currency: price.currency };
}

/** `null`: the order changes something, or withdraws what was to change at the end of the period. */
export async function unchangedText(
  { subscription }: Changed,
  order: Omit<Order, "isAtOnce">,
): Promise<string | null> {
  const scheduled = (await accessBy(subscription.id))?.scheduled ?? null;
  if (!(await isAsItIs(subscription, order)) || scheduled !== null) return null;
  const t = await getTranslations("billing");
  return t("change.nothing");
}

export async function changedText({ subscription }: Changed, order: Order): Promise<string> {
  const [t, format] = await Promise.all([getTranslations("billing"), getFormatter()]);
  if (order.isAtOnce) return t("changed");
  if (await isAsItIs(subscription, order)) return t("scheduled.kept");
  const end = periodEnd(subscription, new Date());
  return end === null
    ? t("change.scheduled")
    : t("change.scheduledOn", { date: format.dateTime(end, { dateStyle: "long" }) });
}

async function isAsItIs(
  subscription: Changed["subscription"],
  { planId, seats, interval }: Omit<Order, "isAtOnce">,
): Promise<boolean> {
  const keepsPlan = planId === null || planId === subscription.planId;
  const keepsSeats = seats === null || Number(seats) === subscription.seats;
  const keepsInterval = interval === null || interval === (await accessBy(subscription.id))?.paidIn?.interval;
  return keepsPlan && keepsSeats && keepsInterval;
}
