import type { RefusalCode } from "./reason-definition.ts";
import { codeOf, type Reason, type ReasonWithParams, sentenceOf } from "./reasons.ts";
import type { Resource } from "./resource.ts";

/** Why an operation was refused, and the input field it concerns, if any. */
export type RefusalFacts = ReasonWithParams & { field?: string | null };

/**
 * The bundled pages have copies of our classes, and refusals cross over. Not matched by name: a library may
 * have an error class of the same name, whose message must not be shown.
 */
const BRAND = Symbol.for("tollgate.refusal");

/** An operation that was refused, not a defect. The message is one English sentence made from the reason. */
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

/** Any error as the client sees it: of a defect nothing is shown. */
export function refusalFor(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  // By name: the store is another folder, and the bundled pages have copies of its classes.
  const isDatabaseAway = error instanceof Error && error.name === "DatabaseUnavailable";
  return new Refusal({ reason: isDatabaseAway ? "unavailable" : "internal_error" });
}

/** Always throws. @throws Refusal */
export function refuse(facts: RefusalFacts): never {
  throw new Refusal(facts);
}

/** Always throws. @throws Refusal `not_found` */
export function notFound(resource: Resource, field: string | null = null): never {
  refuse({ reason: "not_found", params: { resource }, field });
}

/** The machine-readable part of a refusal, the same on every surface. */
export function shownReason({ reason, params, field }: Refusal): {
  reason: Reason;
  params: Record<string, unknown>;
} {
  return { reason, params: field === null ? params : { field, ...params } };
}
