/**
 * Each item of a provider's list once, without those that have no id: a page that shifts while it is read lists
 * one twice.
 * @param listed the ids so far, to which those of the list are added
 */
export async function* unrepeated<Item>(
  items: AsyncIterable<Item>,
  idOf: (item: Item) => string | null,
  listed = new Set<string>(),
): AsyncGenerator<Item> {
  for await (const item of items) {
    const id = idOf(item);
    if (id === null || listed.has(id)) continue;
    listed.add(id);
    yield item;
  }
}
