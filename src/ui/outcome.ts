/** The result of a submitted form; `null`: not submitted. */
export type FormOutcome<Value = unknown> = { done: true; value: Value } | FormFailure | null;

type FormFailure = {
  done: false;
  /**
   * A refusal's code, `defect`, `unreachable` for no response, `outdated` for an action of an earlier release, or
   * `other_account` for a form that another account was shown.
   */
  code: string;
  /** In the reader's language. */
  message: string;
  /** The field concerned, if any. */
  field: string | null;
  retryAfterSeconds: number | null;
  /** The submitted values, so that nobody has to type them again. */
  entered: Record<string, string>;
};

export function failedForm(
  form: FormData,
  failure: Pick<FormFailure, "code" | "message"> & Partial<Pick<FormFailure, "field" | "retryAfterSeconds">>,
): FormFailure {
  return { done: false, field: null, retryAfterSeconds: null, ...failure, entered: retainedFields(form) };
}

/** What a form shows again after a refusal; never passwords. */
function retainedFields(entered: FormData): Record<string, string> {
  if (!(entered instanceof FormData)) return {};
  const fields = [...entered].filter(
    ([name, value]) => typeof value === "string" && !/password|^\$/i.test(name),
  );
  return Object.fromEntries(fields) as Record<string, string>;
}
