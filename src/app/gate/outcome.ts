import { unstable_rethrow } from "next/navigation";
import { getTranslations } from "next-intl/server";
import type { Outcome } from "../../ui/outcome.ts";
import { type PageRefusal, refusalOf } from "./refusal.ts";
import { refusalWords } from "./refusal-words.ts";
import { currentRequest } from "./request.ts";

/**
 * What came of an action, for the form that it was sent by: Next.js masks what is thrown in production. Redirects go on.
 * @param entered the form's fields, given back so that a refused form is not empty; never passwords
 */
export async function catchRefusals<Value>(
  entered: FormData,
  action: () => Promise<Value>,
): Promise<Outcome<Value>> {
  try {
    return { done: true, value: await action() };
  } catch (error) {
    unstable_rethrow(error);
    const { log, id, failsAs } = currentRequest();
    // It has not failed: it says why it was not done.
    failsAs(null);
    const refusal = refusalOf(error);
    if (refusal) return toFailure(refusal, entered);
    log.error({ err: error, requestId: id }, "an action failed");
    const t = await getTranslations("refusals");
    const isAway = error instanceof Error && error.name === "DatabaseUnavailable";
    return {
      done: false,
      code: isAway ? "unavailable" : "defect",
      message: isAway ? t("unavailable") : t("defect", { id }),
      field: null,
      retryAfterSeconds: null,
      entered: retainedFields(entered),
    };
  }
}

async function toFailure(refusal: PageRefusal, entered: FormData): Promise<Outcome<never>> {
  const { code, message } = refusal;
  const t = await getTranslations("refusals");
  const { key, values } = refusalWords(code, message);
  return {
    done: false,
    code,
    message: t(key, values),
    field: code === "invalid_input" ? (/^(\w+)[.:]/.exec(message)?.[1] ?? null) : null,
    retryAfterSeconds: refusal.retryAfterSeconds ?? null,
    entered: retainedFields(entered),
  };
}

function retainedFields(entered: FormData): Record<string, string> {
  if (!(entered instanceof FormData)) return {};
  const fields = [...entered].filter(
    ([name, value]) => typeof value === "string" && !/password|^\$/i.test(name),
  );
  return Object.fromEntries(fields) as Record<string, string>;
}
