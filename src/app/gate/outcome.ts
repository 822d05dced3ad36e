import { unstable_rethrow } from "next/navigation";
import { getTranslations } from "next-intl/server";
import { Refusal } from "../../domain/refusals/refusal.ts";
import { type FormOutcome, failedForm } from "../../ui/outcome.ts";
import { FieldError } from "./field-error.ts";
import { type PageRefusal, refusalOf } from "./refusal.ts";
import { refusalText } from "./refusal-text.ts";
import { currentRequest } from "./request.ts";
import { isUnavailable } from "./unavailable.ts";

/**
 * An action's result or refusal as the outcome of its form: Next.js masks thrown errors in production.
 * Redirects pass.
 * @param entered returned with a refusal, so that the form keeps what was typed; never passwords
 */
export async function catchRefusals<Value>(
  entered: FormData,
  action: () => Promise<Value>,
): Promise<FormOutcome<Value>> {
  try {
    return { done: true, value: await action() };
  } catch (error) {
    unstable_rethrow(error);
    const { log, id, setErrorStatus, cannotServe } = await currentRequest();
    // The page itself is served: it shows the refusal.
    setErrorStatus(null);
    if (isUnavailable(error)) cannotServe();
    const refusal = refusalOf(error);
    if (refusal) return toFailure(refusal, entered);
    if (error instanceof FieldError) {
      const { field, message } = error;
      return failedForm(entered, { code: "invalid_input", message, field });
    }
    log.error({ err: error, requestId: id }, "action failed");
    if (isUnavailable(error)) return toFailure(new Refusal({ reason: "unavailable" }), entered);
    const t = await getTranslations("refusals");
    return failedForm(entered, { code: "defect", message: t("defect", { id }) });
  }
}

async function toFailure(refusal: PageRefusal, entered: FormData): Promise<FormOutcome<never>> {
  const { code, field } = refusal;
  return failedForm(entered, {
    code,
    message: await refusalText(refusal),
    field: field?.split(".")[0] ?? null,
    retryAfterSeconds: (refusal.params.retryAfterSeconds as number | undefined) ?? null,
  });
}
