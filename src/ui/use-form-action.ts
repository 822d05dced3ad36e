"use client";

import { unstable_isUnrecognizedActionError } from "next/navigation";
import { useActionState } from "react";
import { type FormOutcome, failedForm } from "./outcome.ts";
import { useUiLabels } from "./ui-labels.tsx";

export type FormAction = (previous: FormOutcome, form: FormData) => Promise<FormOutcome>;

/**
 * React's `useActionState`, for which no response would be the end of the page: a form that reaches no server,
 * or one of a later release, says so and keeps what was typed.
 */
export function useFormAction(action: FormAction): [outcome: FormOutcome, submit: (form: FormData) => void] {
  const labels = useUiLabels();
  const submitted: FormAction = async (previous, form) => {
    try {
      return await action(previous, form);
    } catch (error) {
      // Next.js's own, such as a redirect, and what the server has thrown.
      if (error instanceof Error && "digest" in error) throw error;
      const retryAfterSeconds = retryAfterSecondsIn(error);
      const isOutdated = unstable_isUnrecognizedActionError(error);
      const code = retryAfterSeconds !== null ? "rate_limited" : isOutdated ? "outdated" : "unreachable";
      return failedForm(form, { code, message: labels?.[code] ?? "", retryAfterSeconds });
    }
  };
  // Without JavaScript, browsers submit to the action itself.
  const [outcome, submit] = useActionState(typeof window === "undefined" ? action : submitted, null);
  return [outcome, submit];
}

/** The seconds to wait, in what `src/http/refusal-for-scripts.ts` makes where the page rate limit refuses a form. */
function retryAfterSecondsIn(error: unknown): number | null {
  try {
    return (JSON.parse((error as Error).message) as { retryAfterSeconds?: number }).retryAfterSeconds ?? null;
  } catch {
    return null;
  }
}
