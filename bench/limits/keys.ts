/** How many there are where each costs memory or time of its own. */
export const KEYS = { memory: 100_000, redis: 20_000 };

/** Keys as they come out of a request: one flat piece of memory each. */
export function freshKeys(prefix: string, from: number, count: number): string[] {
  return Array.from({ length: count }, (_, index) =>
    Buffer.from(`${prefix}user_${String(from + index).padStart(8, "0")}`).toString("latin1"),
  );
}
