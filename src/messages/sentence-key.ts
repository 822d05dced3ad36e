import type { InputProblem } from "../domain/refusals/input-problems.ts";
import type { Reason } from "../domain/refusals/reasons.ts";

type Values = Record<string, string | number>;

/**
 * The key of a refusal's message, below `refusals` in the catalog, and the values that the message contains.
 */
export function sentenceKey({ reason, params }: { reason: Reason; params: Record<string, unknown> }): {
  key: `reasons.${Reason}` | `problems.${InputProblem["problem"]}`;
  values: Values;
} {
  const values = Object.fromEntries(
    Object.entries(params).filter(([, value]) => typeof value === "string" || typeof value === "number"),
  ) as Values;
  if (reason !== "invalid_input") return { key: `reasons.${reason}`, values };
  return { key: `problems.${(params as InputProblem).problem}`, values };
}
