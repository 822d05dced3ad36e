/** Keys as they come out of a request: one flat piece of memory each. */
export function freshKeys(prefix: string, from: number, count: number): string[] {
  return Array.from({ length: count }, (_, index) =>
    Buffer.from(`${prefix}user_${String(from + index).padStart(8, "0")}`).toString("latin1"),
  );
}

/** Always the same disorder. */
export function shuffled(keys: readonly string[]): string[] {
  const mixed = [...keys];
  const random = sequenceOf(1);
  for (let last = mixed.length - 1; last > 0; last -= 1) {
    const swapped = Math.floor(random() * (last + 1));
    [mixed[last], mixed[swapped]] = [mixed[swapped] as string, mixed[last] as string];
  }
  return mixed;
}

/** Numbers from 0 to 1, the same ones for the same seed (mulberry32). */
export function sequenceOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
