import { getTranslations } from "next-intl/server";
import type { Reason } from "../../domain/refusals/reasons.ts";
import { sentenceKey } from "../../messages/sentence-key.ts";

/** A refusal's text in the language of the page. */
export async function refusalText(refusal: {
  reason: Reason;
  params: Record<string, unknown>;
}): Promise<string> {
  const translate = await getTranslations("refusals");
  const { key, values } = sentenceKey(refusal);
  return translate(key, values);
}
