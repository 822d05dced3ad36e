import { getTranslations } from "next-intl/server";
import type { FailureReason } from "../../domain/deliveries/failures.ts";

type StoredFailure = {
  reason: FailureReason | null;
  /** The English sentence, shown for failures stored without a reason. */
  error: string | null;
  params?: Record<string, unknown> | null;
};

/**
 * Why an attempt failed, in the reader's language: a full sentence where the parameters are known, else a few
 * words.
 */
export async function failureTexts(): Promise<(failure: StoredFailure) => string> {
  const t = await getTranslations("failures");
  return ({ reason, error, params }) => {
    if (reason === null) return error ?? "";
    // Stored by a later release, which has been rolled back.
    if (!t.has(`short.${reason}`)) return error ?? reason;
    if (params === undefined) return t(`short.${reason}`);
    return t(`long.${reason}`, (params ?? {}) as Record<string, string | number>);
  };
}
