/** Requests per slot; the rate limit is enforced where requests are sent. */
const CONCURRENCY = 16;

/** Calls `visit` for each item, a few at a time. */
export async function forEachConcurrently<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  visit: (item: Item) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>();
  for await (const item of items) {
    const visiting = visit(item).finally(() => running.delete(visiting));
    running.add(visiting);
    if (running.size >= CONCURRENCY) await Promise.race(running);
  }
  await Promise.all(running);
}
