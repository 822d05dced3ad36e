import type { z } from "zod";
import type { Dependencies } from "../../operations/dependencies.ts";
import { type Access, type Call, execute, type Operation } from "../../operations/operation.ts";
import { currentRequest, person } from "./request.ts";
import { withWait } from "./wait.ts";

/**
 * An action's way through the gate: session, limit, validation, operation. Without a session, on to the sign-in page.
 * @param readInput is called when the limit has let the call through
 * @throws Refusal, also over the limit, with the specification's message
 */
export async function act<Input extends z.ZodType, Output extends z.ZodType, A extends Access>(
  operation: Operation<Dependencies, Input, Output, A>,
  readInput: () => unknown,
): Promise<z.input<Output>> {
  const call: Call = { caller: await person(), charges: [] };
  return withWait(call, () => execute(operation, currentRequest().deps, call, readInput));
}
