/** The result of a submitted form; `null`: not submitted. */
export type Outcome<Value = unknown> =
  | { done: true; value: Value }
  | {
      done: false;
      /** A refusal's code, or `defect`. */
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
