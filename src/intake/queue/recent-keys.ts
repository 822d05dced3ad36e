/** Recently seen keys, as many as fit. Only a hint: the database decides. */
export type RecentKeys = { add(key: string): void; has(key: string): boolean };

export function createRecentKeys(capacity: number): RecentKeys {
  let newer = new Set<string>();
  let older = new Set<string>();
  return {
    add(key) {
      newer.add(key);
      if (newer.size < capacity / 2) return;
      older = newer;
      newer = new Set();
    },
    has: (key) => newer.has(key) || older.has(key),
  };
}
