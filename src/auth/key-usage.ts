import { markApiKeysUsed } from "../store/api-keys.ts";
import type { Queryable } from "../store/database.ts";
import type { Log } from "./log.ts";

/** Precision of the time of last use. */
const INTERVAL_SECONDS = 60;

export type KeyUsage = {
  /** Records the use of a key at `now`: returns at once, and writes at most once a minute per key. */
  record(key: { id: string; lastUsedAt: number | null }, now: number): void;
  /** Resolves when everything recorded has been written. */
  idle(): Promise<void>;
};

export function keyUsage(database: Queryable, log: Log): KeyUsage {
  const pending = new Set<string>();
  const inFlight = new Set<string>();
  let writing: Promise<void> | null = null;

  const write = async () => {
    while (pending.size > 0) {
      const ids = [...pending];
      pending.clear();
      for (const id of ids) inFlight.add(id);
      try {
        await markApiKeysUsed(database, ids, INTERVAL_SECONDS);
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
