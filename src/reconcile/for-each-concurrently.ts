/** Requests per slot; the rate limit is enforced where requests are sent. */
const CONCURRENCY = 16;

/**
 * Calls `visit` for each item, a few at a time. Once one has failed, no more are visited; those under way are
 * waited for. @throws what the first one failed with
 */
export async function forEachConcurrently<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  visit: (item: Item) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>();
  const failures: unknown[] = [];
  try {
    for await (const item of items) {
      if (failures.length > 0) break;
      // Handled at once: unhandled while the next item is awaited, it would end the process.
      const visiting = visit(item)
        .catch((error: unknown) => void failures.push(error))
        .finally(() => running.delete(visiting));
      running.add(visiting);
      if (running.size >= CONCURRENCY) await Promise.race(running);
    }
  } finally {
    await Promise.all(running);
  }
  if (failures.length > 0) throw failures[0];
}
