import { codeOf, type Reason, type ReasonWithParams, type RefusalCode, sentenceOf } from "./reasons.ts";

/** Why an operation was not done, and which field of its input that is about, if it is about one. */
export type RefusalFacts = ReasonWithParams & { field?: string | null };

/**
 * The pages are a bundle with copies of our classes, and refusals cross over. Not recognised by name: a library may have
 * an error class of the same name, whose message is for nobody.
 */
const BRAND = Symbol.for("tollgate.refusal");

/** An operation that was not done, through no defect. The message is one English sentence, made of the reason. */
export class Refusal extends Error {
  override name = "Refusal";
  readonly code: RefusalCode;
  readonly reason: Reason;
  readonly params: Record<string, unknown>;
  readonly field: string | null;

  constructor(facts: RefusalFacts) {
    const { reason, params = {}, field = null } = facts;
    super(sentenceOf(facts, field));
    this.code = codeOf(reason);
    this.reason = reason;
    this.params = params;
    this.field = field;
  }

  /** The message with the field under another name, such as a command line's option. */
  sentence(field: string | null): string {
    return sentenceOf({ reason: this.reason, params: this.params } as ReasonWithParams, field);
  }

  get [BRAND](): true {
    return true;
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof Error && BRAND in value;
  }
}

/** @throws Refusal, always */
export function refuse(facts: RefusalFacts): never {
  throw new Refusal(facts);
}

/** What a program is shown of a refusal beside its sentence, the same on every surface. */
export function shownReason({ reason, params, field }: Refusal): {
  reason: Reason;
  params: Record<string, unknown>;
} {
  return { reason, params: field === null ? params : { field, ...params } };
}
