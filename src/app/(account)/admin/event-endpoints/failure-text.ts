import { getTranslations } from "next-intl/server";
import { outboundFailureOf } from "../../../../domain/outbound/outbound-failure.ts";

/** Why an event had no response, in the reader's language where it is not the network's own words. */
export async function outboundFailureTexts(): Promise<(error: string | null) => string> {
  const t = await getTranslations("adminEventEndpoints.failures");
  return (error) => {
    const failure = outboundFailureOf(error ?? "");
    return failure ? t(failure) : (error ?? "");
  };
}
