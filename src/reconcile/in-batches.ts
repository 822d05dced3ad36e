/** How many objects of a provider are held in memory, and looked up in the database, at once. */
const BATCH_SIZE = 100;

/** Collects the items of a list; the last batch may be smaller. */
export async function* inBatches<Item>(items: AsyncIterable<Item>): AsyncGenerator<Item[]> {
  let batch: Item[] = [];
  for await (const item of items) {
    batch.push(item);
    if (batch.length < BATCH_SIZE) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
