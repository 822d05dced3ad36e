import type { z } from "zod";
import { OPERATOR } from "../domain/callers/caller.ts";
import { execute, type Operation } from "../operations/operation.ts";

/** The operator is not charged to any limit, and a command keeps no metrics. @throws Refusal */
export function runAsOperator<
  Deps extends object,
  Input extends z.ZodType,
  Output extends z.ZodType,
  A extends "admin" | "operator",
>(operation: Operation<Deps, Input, Output, A>, deps: Deps, input: z.input<Input>): Promise<z.input<Output>> {
  const gate = { limits: null, observe: null };
  return execute(operation, { ...deps, ...gate }, { caller: OPERATOR, charges: [] }, () => input);
}
