import { setTimeout as sleep } from "node:timers/promises";
import { type Database, DatabaseUnavailable } from "./database.ts";

const GIVE_UP_AFTER_MS = 30_000;

/** Waits for a database that is still starting. @throws DatabaseUnavailable after 30 s; its own error when it refuses us. */
export async function untilReachable(database: Database): Promise<void> {
  const giveUpAt = performance.now() + GIVE_UP_AFTER_MS;
  for (;;) {
    try {
      await database.run({ name: "ping", text: "select 1" });
      return;
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable) || performance.now() > giveUpAt) throw error;
      await sleep(500);
    }
  }
}
