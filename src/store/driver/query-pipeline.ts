import pg from "pg";
import type { BurstClient } from "./burst-client.ts";
import { endsConnection } from "./ends-connection.ts";
import type { Read } from "./read-burst.ts";
import { READ_ONLY_SQL_TRANSACTION } from "./sql-states.ts";

/** Maximum of statements pipelined on one connection; further ones use another. */
const MAX_PER_CONNECTION = 16;

/**
 * Sends the reads of one event-loop turn on one connection with one system call, and gets their rows with
 * one: most of what a small statement costs this process, and half of its cost in PostgreSQL. Adds no delay.
 * A read that fails does not fail the others.
 */
export function createQueryPipeline(pool: pg.Pool): {
  run(config: pg.QueryConfig): Promise<object[]>;
  /** Sent at once, on a connection of its own. */
  runAlone(config: pg.QueryConfig): Promise<object[]>;
} {
  let waiting: Read[] = [];

  const send = () => {
    const statements = waiting;
    waiting = [];
    for (let first = 0; first < statements.length; first += MAX_PER_CONNECTION) {
      void sendPipeline(pool, statements.slice(first, first + MAX_PER_CONNECTION));
    }
  };

  return {
    run: (config) =>
      new Promise((resolve, reject) => {
        // After the turn, not its microtasks: requests that arrive together are separate callbacks.
        if (waiting.length === 0) setImmediate(send);
        waiting.push({ config, resolve, reject });
      }),
    runAlone: (config) =>
      new Promise((resolve, reject) => {
        void sendPipeline(pool, [{ config, resolve, reject }]);
      }),
  };
}

async function sendPipeline(pool: pg.Pool, reads: readonly Read[]): Promise<void> {
  let client: pg.PoolClient & BurstClient;
  try {
    client = (await pool.connect()) as pg.PoolClient & BurstClient;
  } catch (error) {
    for (const { reject } of reads) reject(error);
    return;
  }
  let open = 0;
  let healthy = true;
  const run = (burst: readonly Read[]) => {
    open += 1;
    client.runReads(burst, (error, [failed, ...skipped]) => {
      if (error && !isStatementError(error)) healthy = false;
      failed?.reject(error);
      // Repeated one by one, so that each is sent twice at most.
      for (const read of skipped)
        if (isConnected(error)) run([read]);
        else read.reject(error);
      open -= 1;
      if (open === 0) client.release(!healthy);
    });
  };
  run(reads);
}

/** Whether PostgreSQL goes on with the statements after the next `Sync`. */
function isConnected(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !endsConnection(error);
}

/**
 * Whether an error concerns one statement alone, so that the connection stays usable. An error of a standby
 * does not: the connection would never lead to the primary again.
 */
export function isStatementError(error: unknown): boolean {
  return isConnected(error) && (error as pg.DatabaseError).code !== READ_ONLY_SQL_TRANSACTION;
}
