/** One statement cannot write a row twice: the second report of a row goes into the next round. */
export function rounds<Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[][] {
  const counts = new Map<string, number>();
  const result: Item[][] = [];
  for (const item of items) {
    const key = keyOf(item);
    const round = counts.get(key) ?? 0;
    counts.set(key, round + 1);
    result[round] ??= [];
    result[round].push(item);
  }
  return result;
}
