import { getFormatter, getTranslations } from "next-intl/server";
import { scheduledChange } from "./plans.ts";

/** What a running subscription changes to at the end of its period, and when; `null`: nothing. */
export async function scheduledSentence(subscriptionId: string): Promise<string | null> {
  const scheduled = await scheduledChange(subscriptionId);
  if (scheduled === null) return null;
  const [t, format] = await Promise.all([getTranslations("billing.scheduled"), getFormatter()]);
  const { planName, seats, interval, at } = scheduled;
  const date = format.dateTime(at, { dateStyle: "long" });
  return t("text", { plan: planName, seats, interval: interval ?? "same", date });
}
