import { pageRequests } from "./page-request.ts";

/**
 * A check that only a page makes, such as typing a name to confirm. Answered like a refusal of invalid input.
 */
export class FieldError extends Error {
  override name = "FieldError";
  readonly digest = "refusal:invalid_input";
  readonly field: string;

  /** @param message in the user's language */
  constructor(field: string, message: string) {
    super(message);
    this.field = field;
    pageRequests().getStore()?.setErrorStatus("invalid_input");
  }
}
