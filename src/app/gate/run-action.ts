import { redirect } from "next/navigation";
import type { z } from "zod";
import { refuse } from "../../domain/refusals/refusal.ts";
import type { LimitCharge } from "../../limits/charge.ts";
import type { Dependencies } from "../../operations/dependencies.ts";
import { type AccessLevel, execute, type Operation } from "../../operations/operation.ts";
import { refusalOf } from "./refusal.ts";
import { currentRequest } from "./request.ts";
import { signInAgainPath } from "./same-site-path.ts";
import { withLimitHeaders } from "./with-limit-headers.ts";

/**
 * Runs an operation for a server action: session, limit, validation, logic. Redirects to the sign-in page if
 * there is no session.
 * @param form the action's argument, which may be anything: anybody can call an action
 * @param readInput called once the limit admits the call, and only for a form
 * @throws Refusal, also over the limit, with the specification's message, and while the database is away
 */
export async function runAction<Input extends z.ZodType, Output extends z.ZodType, A extends AccessLevel>(
  operation: Operation<Dependencies, Input, Output, A>,
  form: FormData,
  readInput: () => Record<string, unknown> | Promise<Record<string, unknown>>,
): Promise<z.input<Output>> {
  const { address, deps, path, person } = await currentRequest();
  const charges: LimitCharge[] = [];
  const readForm = async () =>
    form instanceof FormData
      ? withoutMissing(form, await readInput())
      : refuse({
          reason: "invalid_input",
          params: { problem: "wrong_type", expected: "the fields of a form" },
        });
  try {
    return await withLimitHeaders(charges, async () => {
      const caller = (await person()) ?? ({ kind: "anonymous", address } as const);
      return execute(operation, deps, { caller, charges }, readForm);
    });
  } catch (error) {
    if (refusalOf(error)?.code === "unauthorized") redirect(signInAgainPath(path));
    throw error;
  }
}

/**
 * A field that the form lacks reads as `null`, and is left out of the input; an action may give `null` for
 * one it has.
 */
function withoutMissing(form: FormData, input: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(input).filter(([name, value]) => value !== null || form.has(name)),
  );
}
