import { notFound } from "next/navigation";
import type { z } from "zod";

type Param = string | string[] | undefined | null;

/** The query parameters of a page, as Next.js passes them. */
export type SearchParams = Promise<Record<string, string | string[] | undefined>>;

/**
 * The parsed parameter; `null` when it is absent. An invalid one ends in the not-found page: left out, it
 * would look as if everything matched it.
 */
export function parseParam<Schema extends z.ZodType>(schema: Schema, value: Param): z.output<Schema> | null {
  const first = firstOf(value);
  if (!first) return null;
  const parsed = schema.safeParse(first);
  return parsed.success ? parsed.data : notFound();
}

/** The text of a search field, trimmed; `null` when it is empty. */
export function searchText(value: Param): string | null {
  return firstOf(value)?.trim() || null;
}

function firstOf(value: Param): string | undefined | null {
  return Array.isArray(value) ? value[0] : value;
}
