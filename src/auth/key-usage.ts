import { markApiKeysUsed } from "../store/api-keys.ts";
import type { Queryable } from "../store/database.ts";
import type { Log } from "./log.ts";

/** How exact the time of last use is. */
const EVERY_SECONDS = 60;

export type KeyUsage = {
  /** Notes that a key is in use at `now`; returns at once, and writes at most once a minute for each key. */
  note(key: { id: string; lastUsedAt: number | null }, now: number): void;
  /** Resolves when everything noted has been written. */
  idle(): Promise<void>;
};

export function keyUsage(database: Queryable, log: Log): KeyUsage {
  const noted = new Set<string>();
  const beingWritten = new Set<string>();
  let writing: Promise<void> | null = null;

  const write = async () => {
    while (noted.size > 0) {
      const ids = [...noted];
      noted.clear();
      for (const id of ids) beingWritten.add(id);
      try {
        await markApiKeysUsed(database, ids, EVERY_SECONDS);
      } catch (err) {
        log.warn({ err, keys: ids.length }, "the time of use of API keys could not be written");
      }
      beingWritten.clear();
    }
    writing = null;
  };

  return {
    note({ id, lastUsedAt }, now) {
      if (lastUsedAt !== null && now - lastUsedAt < EVERY_SECONDS * 1000) return;
      if (beingWritten.has(id)) return;
      noted.add(id);
      writing ??= write();
    },
    idle: async () => {
      await writing;
    },
  };
}
