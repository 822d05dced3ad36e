import { getFormatter, getTranslations } from "next-intl/server";
import { access, hasPaymentProblem } from "../access.ts";

/** What a payment that is due or was taken back means for the subscription; `null`: there is none. */
export async function paymentProblemSentence(subscriptionId: string): Promise<string | null> {
  const problem = (await access())
    .filter(hasPaymentProblem)
    .find((item) => item.subscriptionId === subscriptionId);
  if (problem === undefined) return null;
  const [t, format] = await Promise.all([getTranslations("billing.problem"), getFormatter()]);
  const { reason, until } = problem;
  return t(reason, { date: until === null ? "" : format.dateTime(until, { dateStyle: "long" }) });
}
