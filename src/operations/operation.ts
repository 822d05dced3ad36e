import type { z } from "zod";
import {
  type Caller,
  isAdministrator,
  type Operator,
  type Person,
  type ServiceKey,
  type SignedIn,
} from "../domain/callers/caller.ts";
import type { Permission } from "../domain/callers/permission.ts";
import { invalidInput, whetherMissing } from "../domain/refusals/invalid-input.ts";
import type { RefusalCode } from "../domain/refusals/reason-definition.ts";
import { COMMON_REASONS, type Reason } from "../domain/refusals/reasons.ts";
import { Refusal, refusalFor, refuse } from "../domain/refusals/refusal.ts";
import { type Tracing, traced } from "../domain/tracing.ts";
import type { ChargedScope } from "../limits/policies.ts";
import type { Limits } from "../limits/rate-limit.ts";
import { type Call, charge, readInputOf } from "./call.ts";
import { assertPermission, type FindNamedUser, onBehalf } from "./on-behalf.ts";

/**
 * Who may call: anyone; a person, by session or API key; a person by session only; an administrator or the
 * operator; the operator only; a service key only. What a service key may call besides is decided by the
 * operation's `permission`.
 */
export type AccessLevel = "anyone" | "person" | "session" | "admin" | "operator" | "service";

/** With a `permission`, a service key may call for a user, who has no session. */
type CallerOf<A extends AccessLevel, P extends Permission | undefined> = A extends "anyone"
  ? Caller
  : A extends "admin"
    ? Person | Operator
    : A extends "operator"
      ? Operator
      : A extends "service"
        ? ServiceKey
        : [A, P] extends ["session", undefined]
          ? SignedIn
          : Person;

export type Operation<
  Deps,
  Input extends z.ZodType = z.ZodType,
  Output extends z.ZodType = z.ZodType,
  A extends AccessLevel = AccessLevel,
  P extends Permission | undefined = Permission | undefined,
> = {
  /** `<noun>.<verb>`, unique. */
  name: string;
  /** One line for the generated documents. */
  summary: string;
  access: A;
  /** What a service key needs, to call it for the user that it names; without it service keys are refused. */
  permission?: P;
  /** The scope that a call is charged to; `null`: not limited. */
  limit: ChargedScope | null;
  input: Input;
  /** Why it may be refused, besides `COMMON_REASONS`. */
  reasons: readonly Reason[];
  /** For documents and tests; not checked at run time. */
  output: Output;
  /** @throws Refusal */
  run(
    deps: Deps,
    caller: CallerOf<A, P>,
    input: z.output<Input>,
    call: Pick<Call, "acceptLanguage">,
  ): Promise<z.input<Output>>;
};

export function defineOperation<
  Deps,
  Input extends z.ZodType,
  Output extends z.ZodType,
  const A extends AccessLevel,
  const P extends Permission | undefined = undefined,
>(operation: Operation<Deps, Input, Output, A, P>): Operation<Deps, Input, Output, A, P> {
  return operation;
}

export type Gate = {
  /** `null`: only the operator calls, who is not charged. */
  limits: Limits | null;
  /** Called with the outcome of each call: `ok`, the code of a refusal, or `defect`; `null`: not counted. */
  observe: ((operation: string, outcome: RefusalCode | "ok" | "defect") => void) | null;
  tracing?: Tracing | null;
  /** In production a refusal for a reason that its operation does not declare is not turned into a defect. */
  isProduction?: boolean;
  /** Finds the user that a service key names; absent where none can call. */
  findNamedUser?: FindNamedUser;
};

/**
 * The gate. Every call on every surface passes through here, in this order: access, limit, validation, logic.
 * @param readInput called only once the limit admits the call: the bodies of a flood are not read
 * @throws Refusal, and whatever else `run` throws: a defect
 */
export async function execute<Deps, Input extends z.ZodType, Output extends z.ZodType, A extends AccessLevel>(
  operation: Operation<Deps, Input, Output, A>,
  deps: Deps & Gate,
  call: Call,
  readInput: () => unknown,
): Promise<z.input<Output>> {
  const { observe, tracing } = deps;
  const running = traced(tracing, operation.name, { kind: "internal", parent: "active" }, () =>
    runOperation(operation, deps, call, readInput),
  );
  if (observe === null) return running;
  try {
    const output = await running;
    observe(operation.name, "ok");
    return output;
  } catch (error) {
    const { code } = refusalFor(error);
    observe(operation.name, code === "internal" ? "defect" : code);
    throw error;
  }
}

async function runOperation<Deps, Input extends z.ZodType, Output extends z.ZodType, A extends AccessLevel>(
  operation: Operation<Deps, Input, Output, A>,
  deps: Deps & Gate,
  call: Call,
  readInput: () => unknown,
): Promise<z.input<Output>> {
  assertAccess(operation, call.caller);
  if (operation.limit !== null) await charge(operation.limit, deps.limits, call);
  let input = await readInputOf(call, readInput);
  let caller: Caller = call.caller;
  // Whoever the caller is by now.
  assertAccess(operation, caller);
  if (caller.kind === "service" && operation.access !== "service") {
    ({ caller, input } = await onBehalf(caller, input, deps.findNamedUser));
  }
  const parsed = operation.input.safeParse(input, { error: whetherMissing });
  if (!parsed.success) throw invalidInput(parsed.error);
  try {
    return await operation.run(deps, caller as CallerOf<A, Permission | undefined>, parsed.data, call);
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

function assertAccess(
  { access, permission }: Pick<Operation<never>, "access" | "permission">,
  caller: Caller,
): void {
  if (caller.kind === "service") {
    assertPermission(caller, permission);
    return;
  }
  if (access === "anyone") return;
  if (caller.kind === "anonymous") refuse({ reason: "unauthorized" });
  if (access === "service") refuse({ reason: "forbidden" });
  if (access === "operator" && caller.kind !== "operator") refuse({ reason: "forbidden" });
  if (access === "session" && caller.kind === "api-key") refuse({ reason: "session_required" });
  if (access === "admin" && !isAdministrator(caller)) {
    const needsTwoFactor = caller.kind === "session" && caller.needsTwoFactor;
    refuse({ reason: needsTwoFactor ? "two_factor_required" : "forbidden" });
  }
}
