import { z } from "zod";

/** The kind of refusal. Each protocol has one table from these to its statuses. */
export type RefusalCode =
  | "unauthorized"
  | "forbidden"
  | "rate_limited"
  | "invalid_input"
  | "too_large"
  | "not_found"
  | "method_not_allowed"
  | "gone"
  | "conflict"
  | "unavailable"
  | "internal";

export type ReasonDefinition<Params extends z.ZodType> = {
  code: RefusalCode;
  /** Data for programs besides the reason. */
  params: Params;
  /** One English sentence for developers, without the field's name, which is prepended. */
  sentence: (params: z.output<Params>) => string;
};

export function reason<Params extends z.ZodType>(
  code: RefusalCode,
  params: Params,
  sentence: (params: z.output<Params>) => string,
): ReasonDefinition<Params> {
  return { code, params, sentence };
}

export function plain(
  code: RefusalCode,
  sentence: string,
): ReasonDefinition<z.ZodObject<Record<never, never>>> {
  return { code, params: z.object({}), sentence: () => sentence };
}
