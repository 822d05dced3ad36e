import type { z } from "zod";
import { invalidInput, whetherMissing } from "../../domain/refusals/invalid-input.ts";
import { Refusal } from "../../domain/refusals/refusal.ts";

/** Better Auth's own error says neither which parameter it means nor what is wrong with it. `null`: it is valid. */
export function refusalOfQuery(search: string, schema: z.ZodObject): Refusal | null {
  const params = new URLSearchParams(search);
  const repeated = Object.keys(schema.shape).find((name) => params.getAll(name).length > 1);
  if (repeated !== undefined)
    return new Refusal({ reason: "invalid_input", params: { problem: "repeated" }, field: repeated });
  const parsed = schema.safeParse(Object.fromEntries(params), { error: whetherMissing });
  return parsed.success ? null : invalidInput(parsed.error);
}
