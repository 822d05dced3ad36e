/** What came of a form that was sent; `null`: it has not been sent. */
export type Outcome<Value = unknown> =
  | { done: true; value: Value }
  | {
      done: false;
      /** A refusal's, or `defect`. */
      code: string;
      /** In the reader's language. */
      message: string;
      /** The field that it is about, if it is about one. */
      field: string | null;
      retryAfterSeconds: number | null;
      /** What was in the form, so that nobody has to type it again. */
      entered: Record<string, string>;
    }
  | null;
