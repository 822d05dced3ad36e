import pg from "pg";
import type { BurstClient } from "./burst-client.ts";

type Waiting = {
  config: pg.QueryConfig;
  resolve(result: pg.QueryResult): void;
  reject(error: unknown): void;
};

/** So many statements wait behind each other on one connection at most; more take another. */
const MOST_TOGETHER = 16;

/**
 * Statements that are asked for in one turn of the event loop travel down one connection with one system call, which is
 * most of what a small one costs this process, and a third of what it costs PostgreSQL. Nothing waits for another turn.
 */
export function sharedTurn(pool: pg.Pool): (config: pg.QueryConfig) => Promise<pg.QueryResult> {
  let waiting: Waiting[] = [];

  const send = () => {
    const all = waiting;
    waiting = [];
    for (let first = 0; first < all.length; first += MOST_TOGETHER) {
      void sendTogether(pool, all.slice(first, first + MOST_TOGETHER));
    }
  };

  return (config) =>
    new Promise((resolve, reject) => {
      // The end of the turn, not of its microtasks: requests that came in together are each a callback of their own.
      if (waiting.length === 0) setImmediate(send);
      waiting.push({ config, resolve, reject });
    });
}

async function sendTogether(pool: pg.Pool, statements: readonly Waiting[]): Promise<void> {
  let client: pg.PoolClient & BurstClient;
  try {
    client = (await pool.connect()) as pg.PoolClient & BurstClient;
  } catch (error) {
    for (const { reject } of statements) reject(error);
    return;
  }
  client.burst();
  let open = statements.length;
  let healthy = true;
  const isOver = () => {
    open -= 1;
    if (open === 0) client.release(!healthy);
  };
  for (const { config, resolve, reject } of statements) {
    client.query(config).then(
      (result) => {
        isOver();
        resolve(result);
      },
      (error) => {
        if (!isAnswer(error)) healthy = false;
        isOver();
        reject(error);
      },
    );
  }
}

/** PostgreSQL's answer to one statement, after which the next is served as if nothing had been. */
function isAnswer(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.severity === "ERROR";
}
