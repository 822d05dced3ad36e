import { setTimeout as sleep } from "node:timers/promises";
import { isUntrusted } from "../domain/untrusted-certificate.ts";
import { acceptsWrites } from "./accepts-writes.ts";
import { type Database, DatabaseUnavailable, sqlState } from "./database.ts";
import { PasswordRequired } from "./driver/login-failures.ts";

// Wrong user or password (28), no such database (3D): waiting does not help, nor where a certificate is not trusted.
const REFUSED = /^(28|3D)/;

/**
 * Waits for a database that is still starting, or takes no writes yet, as during a failover. @throws
 * DatabaseUnavailable after the time limit; the database's own error when it rejects us.
 */
export async function waitForDatabase(
  database: Database,
  giveUpAfterMs = 30_000,
  onWaiting: (giveUpAfterMs: number, because: DatabaseUnavailable) => void = () => {},
): Promise<void> {
  const giveUpAt = performance.now() + giveUpAfterMs;
  for (let tries = 1; ; tries += 1) {
    try {
      if (await acceptsWrites(database)) return;
      throw new DatabaseUnavailable(
        "the server that responds is read-only: it is a standby, its disk is full, or default_transaction_read_only is on",
      );
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable)) throw error;
      if (isUntrusted(error.cause)) throw error;
      if (error.cause instanceof PasswordRequired) throw error;
      if (REFUSED.test(sqlState(error.cause) ?? "")) throw error.cause;
      if (performance.now() > giveUpAt) throw error;
      if (tries === 1) onWaiting(giveUpAfterMs, error);
      await sleep(500);
    }
  }
}
