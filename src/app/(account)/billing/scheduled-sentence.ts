import { getFormatter, getTranslations } from "next-intl/server";
import { accessBy } from "../access.ts";

/** What a running subscription changes to at the end of its period, and when; `null`: nothing. */
export async function scheduledSentence(subscriptionId: string): Promise<string | null> {
  const scheduled = (await accessBy(subscriptionId))?.scheduled;
  if (!scheduled) return null;
  const [t, format] = await Promise.all([getTranslations("billing.scheduled"), getFormatter()]);
  const { planName, seats, interval, at } = scheduled;
  const date = format.dateTime(at, { dateStyle: "long" });
  return t("text", { plan: planName, seats, interval: interval ?? "same", date });
}
