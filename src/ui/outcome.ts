/** The result of a submitted form; `null`: not submitted. */
export type FormOutcome<Value = unknown> =
  | { done: true; value: Value }
  | {
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
    }
  | null;

/** What a form shows again after a refusal; never passwords. */
export function retainedFields(entered: FormData): Record<string, string> {
  if (!(entered instanceof FormData)) return {};
  const fields = [...entered].filter(
    ([name, value]) => typeof value === "string" && !/password|^\$/i.test(name),
  );
  return Object.fromEntries(fields) as Record<string, string>;
}
