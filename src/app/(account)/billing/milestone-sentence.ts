import { getFormatter, getLocale, getTranslations } from "next-intl/server";
import { formatPrice } from "../../../ui/price.ts";
import { planOf } from "./plans.ts";
import { nextMilestone, type Subscription } from "./subscription-state.ts";

/** What comes next, and when: "renews on March 3 for €20". */
export async function milestoneSentence(subscription: Subscription): Promise<string> {
  const [t, day, price] = await Promise.all([
    getTranslations("billing.next"),
    dayOf(subscription.currentPeriodEnd),
    priceOf(subscription),
  ]);
  const next = nextMilestone(subscription, new Date());
  return t(next, { date: day, price: price ?? "", isPriced: price === null ? "no" : "yes" });
}

/** The year is said when it is another one. */
async function dayOf(date: Date | null): Promise<string> {
  if (date === null) return "";
  const format = await getFormatter();
  const isThisYear = date.getUTCFullYear() === new Date().getUTCFullYear();
  return format.dateTime(date, { day: "numeric", month: "long", ...(isThisYear ? {} : { year: "numeric" }) });
}

/** Of all seats, for one interval; `null` when nobody here knows it. */
async function priceOf({ planId, seats }: Subscription): Promise<string | null> {
  const plan = await planOf(planId);
  if (!plan) return null;
  return formatPrice(await getLocale(), { ...plan.price, amount: plan.price.amount * seats });
}
