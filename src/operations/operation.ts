import type { z } from "zod";
import { type Caller, isAdministrator, type Operator, type Person } from "../domain/caller.ts";
import { invalidInput, whetherMissing } from "../domain/invalid-input.ts";
import { COMMON_REASONS, type Reason, type RefusalCode } from "../domain/reasons.ts";
import { Refusal, refuse } from "../domain/refusal.ts";
import { type Charge, retryAfterSeconds } from "../limits/charge.ts";
import { limitKey } from "../limits/limit-key.ts";
import type { Scope } from "../limits/policies.ts";
import type { Decision, Limits } from "../limits/rate-limit.ts";

/**
 * Who may call: anyone; a person, by session or API key; a person by session only; an administrator or the operator;
 * the operator only.
 */
export type Access = "anyone" | "person" | "session" | "admin" | "operator";

type CallerOf<A extends Access> = A extends "anyone"
  ? Caller
  : A extends "admin"
    ? Person | Operator
    : A extends "operator"
      ? Operator
      : Person;

export type Operation<
  Deps,
  Input extends z.ZodType = z.ZodType,
  Output extends z.ZodType = z.ZodType,
  A extends Access = Access,
> = {
  /** `<noun>.<verb>`, unique. */
  name: string;
  /** One line for the generated documents. */
  summary: string;
  access: A;
  /** The scope that a call is charged to; `null`: not limited. */
  limit: Scope | null;
  input: Input;
  /** Why it may be refused, besides `COMMON_REASONS`. */
  reasons: readonly Reason[];
  /** For documents and tests; not checked at run time. */
  output: Output;
  /** @throws Refusal */
  run(
    deps: Deps,
    caller: CallerOf<A>,
    input: z.output<Input>,
    call: Pick<Call, "acceptLanguage">,
  ): Promise<z.input<Output>>;
};

export function defineOperation<
  Deps,
  Input extends z.ZodType,
  Output extends z.ZodType,
  const A extends Access,
>(operation: Operation<Deps, Input, Output, A>): Operation<Deps, Input, Output, A> {
  return operation;
}

/** One request from outside, which may call several operations. */
export type Call = {
  caller: Caller;
  /** Every charge so far, refused ones included: the surface shows what remains. */
  charges: Charge[];
  /** Not charged to any limit: a page's reads are charged as one page. */
  isExempt?: boolean;
  /** The request's `Accept-Language`. */
  acceptLanguage?: string | undefined;
};

export type Gate = {
  /** `null`: only the operator calls, who is not charged. */
  limits: Limits | null;
  /** Called with the outcome of each call: `ok`, the code of a refusal, or `defect`; `null`: not counted. */
  observe: ((operation: string, outcome: RefusalCode | "ok" | "defect") => void) | null;
  /** In production a refusal for a reason that its operation does not declare is not turned into a defect. */
  isProduction?: boolean;
};

/**
 * The gate. Every call on every surface passes through here, in this order: access, limit, validation, logic.
 * @param readInput called only once the limit admits the call: the bodies of a flood are not read
 * @throws Refusal, and whatever else `run` throws: a defect
 */
export async function execute<Deps, Input extends z.ZodType, Output extends z.ZodType, A extends Access>(
  operation: Operation<Deps, Input, Output, A>,
  deps: Deps & Gate,
  call: Call,
  readInput: () => unknown,
): Promise<z.input<Output>> {
  const { observe } = deps;
  if (observe === null) return runOperation(operation, deps, call, readInput);
  try {
    const output = await runOperation(operation, deps, call, readInput);
    observe(operation.name, "ok");
    return output;
  } catch (error) {
    observe(operation.name, error instanceof Refusal ? error.code : "defect");
    throw error;
  }
}

async function runOperation<Deps, Input extends z.ZodType, Output extends z.ZodType, A extends Access>(
  operation: Operation<Deps, Input, Output, A>,
  deps: Deps & Gate,
  call: Call,
  readInput: () => unknown,
): Promise<z.input<Output>> {
  assertAccess(operation.access, call.caller);
  if (operation.limit !== null) await charge(operation.limit, deps.limits, call);
  const parsed = operation.input.safeParse(await readInput(), { error: whetherMissing });
  if (!parsed.success) throw invalidInput(parsed.error);
  try {
    return await operation.run(deps, call.caller as CallerOf<A>, parsed.data, call);
  } catch (error) {
    if (deps.isProduction !== true && error instanceof Refusal) assertDeclared(operation, error.reason);
    throw error;
  }
}

/** Documents list the declared reasons, and clients handle those. */
function assertDeclared(
  { name, reasons }: Pick<Operation<unknown>, "name" | "reasons">,
  reason: Reason,
): void {
  if (reasons.includes(reason) || COMMON_REASONS.includes(reason)) return;
  throw new Error(`${name}: add "${reason}" to its reasons`);
}

function assertAccess(access: Access, caller: Caller): void {
  if (access === "anyone") return;
  if (caller.kind === "anonymous") refuse({ reason: "unauthorized" });
  if (access === "operator" && caller.kind !== "operator") refuse({ reason: "forbidden" });
  if (access === "session" && caller.kind === "api-key") refuse({ reason: "session_required" });
  if (access === "admin" && !isAdministrator(caller)) {
    const needsTwoFactor = caller.kind === "session" && caller.needsTwoFactor;
    refuse({ reason: needsTwoFactor ? "two_factor_required" : "forbidden" });
  }
}

/**
 * Also for surfaces that are charged themselves, besides the operations called through them.
 * @param cost charged as a whole or not at all
 * @throws Refusal
 */
export async function charge(scope: Scope, limits: Limits | null, call: Call, cost = 1): Promise<void> {
  const { caller, charges } = call;
  if (caller.kind === "operator" || call.isExempt) return;
  if (limits === null) throw new Error(`a call by "${caller.kind}" needs limits`);
  const policy = limits.policies[scope];
  let decision: Decision | Promise<Decision>;
  try {
    const id = caller.kind === "anonymous" ? caller.address : caller.userId;
    decision = limits.rateLimit(limitKey(scope, id), { ...policy, cost });
    if (decision instanceof Promise) decision = await decision;
  } catch (error) {
    throw unavailable(error);
  }
  const charged = { scope, ...policy, ...decision, decidedAt: limits.now() };
  charges.push(charged);
  if (!decision.allowed)
    refuse({ reason: "rate_limited", params: { retryAfterSeconds: retryAfterSeconds(charged) } });
}

function unavailable(error: unknown): unknown {
  if (!(error instanceof Error && error.name === "LimiterUnavailable")) return error;
  return refuse({ reason: "unavailable" });
}
