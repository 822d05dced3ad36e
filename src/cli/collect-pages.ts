import type { Page } from "../operations/page.ts";

export type PageOptions = { limit: number; cursor?: string };

const MAX_PAGE_SIZE = 100;

/** Reads page after page until `limit` items are found, or there are no more. */
export async function collectPages<Item>(
  { limit, cursor: start = null }: { limit: number; cursor?: string | null },
  readPage: (page: { limit: number; cursor: string | null }) => Promise<Page<Item>>,
): Promise<Page<Item>> {
  const items: Item[] = [];
  let cursor: string | null = start;
  do {
    const page = await readPage({ cursor, limit: Math.min(MAX_PAGE_SIZE, limit - items.length) });
    items.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null && items.length < limit);
  return { items, nextCursor: cursor };
}
