import type { z } from "zod";

/** The parts of an address behind the question mark, as Next.js tells them. */
export type SearchParams = Promise<Record<string, string | string[] | undefined>>;

/** What the address asks for, or `null` when nothing, or nothing that can be asked for. */
export function parseParam<Schema extends z.ZodType>(
  schema: Schema,
  value: string | string[] | undefined,
): z.output<Schema> | null {
  const first = Array.isArray(value) ? value[0] : value;
  if (!first) return null;
  const parsed = schema.safeParse(first);
  return parsed.success ? parsed.data : null;
}
