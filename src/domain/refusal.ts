/** Why an operation was not done. Each protocol translates these, and only these, into answers of its own. */
export type RefusalCode =
  | "unauthorized"
  | "forbidden"
  | "rate_limited"
  | "invalid_input"
  | "too_large"
  | "not_found"
  | "conflict"
  | "unavailable";

/**
 * The pages are a bundle, with copies of our classes, and refusals cross over. Not by its name: a library may call an error of
 * its own so, whose message is for nobody.
 */
const BRAND = Symbol.for("tollgate.refusal");

/**
 * An operation that was not done, through no defect. The message is one sentence for the caller; when it is about one
 * field of the input it begins with the field's name and a colon.
 */
export class Refusal extends Error {
  override name = "Refusal";
  readonly code: RefusalCode;

  constructor(code: RefusalCode, message: string) {
    super(message);
    this.code = code;
  }

  get [BRAND](): true {
    return true;
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof Error && BRAND in value;
  }
}

/** @throws Refusal, always */
export function refuse(code: RefusalCode, message: string): never {
  throw new Refusal(code, message);
}

export const TOO_MANY_REQUESTS = "Too many requests. Please wait a moment.";
