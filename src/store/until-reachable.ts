import { setTimeout as sleep } from "node:timers/promises";
import { type Database, DatabaseUnavailable } from "./database.ts";

/** Waits for a database that is still starting. @throws DatabaseUnavailable in the end; its own error when it refuses us. */
export async function untilReachable(database: Database, giveUpAfterMs = 30_000): Promise<void> {
  const giveUpAt = performance.now() + giveUpAfterMs;
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
