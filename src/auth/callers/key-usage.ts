import type { Log } from "../log.ts";

/** Precision of the time of last use. */
const INTERVAL_SECONDS = 60;

export type KeyUsage = {
  /** Records the use of a key at `now`: returns at once, and writes at most once a minute per key. */
  record(key: { id: string; lastUsedAt: number | null }, now: number): void;
  /** Resolves when everything recorded has been written. */
  idle(): Promise<void>;
};

/** @param markUsed writes the time of last use, unless one was written less than `everySeconds` ago */
export function keyUsage(
  markUsed: (ids: readonly string[], everySeconds: number) => Promise<void>,
  log: Log,
): KeyUsage {
  const pending = new Set<string>();
  const inFlight = new Set<string>();
  let writing: Promise<void> | null = null;

  const write = async () => {
    while (pending.size > 0) {
      const ids = [...pending];
      pending.clear();
      for (const id of ids) inFlight.add(id);
      try {
        await markUsed(ids, INTERVAL_SECONDS);
      } catch (err) {
        log.warn({ err, keys: ids.length }, "could not record the last use of API keys");
      }
      inFlight.clear();
    }
    writing = null;
  };

  return {
    record({ id, lastUsedAt }, now) {
      if (lastUsedAt !== null && now - lastUsedAt < INTERVAL_SECONDS * 1000) return;
      if (inFlight.has(id)) return;
      pending.add(id);
      writing ??= write();
    },
    idle: async () => {
      await writing;
    },
  };
}
