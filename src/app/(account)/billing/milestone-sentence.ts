import { getFormatter, getLocale, getTranslations } from "next-intl/server";
import { formatPrice } from "../../../ui/price.ts";
import { accessBy } from "../access.ts";
import { oneTimeState, planName } from "./plans.ts";
import { hasScheduledEnd, nextMilestone, type Subscription } from "./subscription-state.ts";

/** What happens next, and when: "Renews on March 3 for €20." */
export async function milestoneSentence(subscription: Subscription): Promise<string> {
  const [t, day, price, paidOnce, plan, access] = await Promise.all([
    getTranslations("billing.next"),
    dayOf(subscription.currentPeriodEnd),
    priceOf(subscription),
    oneTimeState(subscription.id),
    planName(subscription.planId),
    accessBy(subscription.id),
  ]);
  const now = new Date();
  const next = nextMilestone(subscription, now, { pauses: access?.pausesAtPeriodEnd === true });
  const milestone = t(paidOnce && next === "running" ? `oneTime.${paidOnce}` : next, {
    plan,
    date: day,
    price: price ?? "",
    isPriced: price === null ? "no" : "yes",
  });
  return hasScheduledEnd(subscription, now) ? `${milestone} ${t("scheduledEnd", { date: day })}` : milestone;
}

/** With the year, unless it is this one. */
async function dayOf(date: Date | null): Promise<string> {
  if (date === null) return "";
  const format = await getFormatter();
  const isThisYear = date.getUTCFullYear() === new Date().getUTCFullYear();
  return format.dateTime(date, { day: "numeric", month: "long", ...(isThisYear ? {} : { year: "numeric" }) });
}

/** Of all seats, for one interval; `null` for a price that is no longer sold, or changes then. */
async function priceOf({ id, seats }: Subscription): Promise<string | null> {
  const access = await accessBy(id);
  if (!access?.price || access.scheduled) return null;
  const { price } = access;
  return formatPrice(await getLocale(), { ...price, amount: price.amount * seats });
}
