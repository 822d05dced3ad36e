import type { z } from "zod";

/** The query parameters of a page, as Next.js passes them. */
export type SearchParams = Promise<Record<string, string | string[] | undefined>>;

/** The parsed parameter; `null` when it is absent or invalid. */
export function parseParam<Schema extends z.ZodType>(
  schema: Schema,
  value: string | string[] | undefined,
): z.output<Schema> | null {
  const first = Array.isArray(value) ? value[0] : value;
  if (!first) return null;
  const parsed = schema.safeParse(first);
  return parsed.success ? parsed.data : null;
}
