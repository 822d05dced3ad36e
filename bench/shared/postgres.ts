import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { BrokenMeasurement } from "./broken.ts";
import { makeCluster } from "./cluster.ts";
import { processStat } from "./cpu.ts";

/** The one server that all contenders share, each with a database of its own. */
export type Postgres = {
  url: string;
  /** The main process, or `null` when it does not run on this machine. */
  pid: number | null;
  settings: Record<string, string>;
  /** An empty database; returns its URL. */
  createDatabase(name: string): Promise<string>;
  stop(): Promise<void>;
};

const PREFIX = "tollgate_bench_";
const SETTINGS = [
  "server_version",
  "fsync",
  "synchronous_commit",
  "full_page_writes",
  "wal_sync_method",
  "shared_buffers",
  "max_wal_size",
  "max_connections",
];

/**
 * Opens the server at `url`, or makes one in a temporary folder. @throws BrokenMeasurement when it does not
 * write to disk
 */
export async function openPostgres(url: string | null): Promise<Postgres> {
  const own = url === null ? await makeCluster() : null;
  const server = own?.url ?? (url as string);
  const created: string[] = [];
  const drop = (name: string) => query(server, `drop database if exists ${PREFIX}${name} with (force)`);
  const stop = async () => {
    for (const name of created.splice(0)) await drop(name);
    await own?.stop();
  };
  try {
    return {
      url: server,
      pid: await postmasterPid(server),
      settings: await durableSettings(server),
      createDatabase: async (name) => {
        await drop(name);
        await query(server, `create database ${PREFIX}${name}`);
        created.push(name);
        const address = new URL(server);
        address.pathname = `/${PREFIX}${name}`;
        return address.href;
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * One statement on a connection of its own, so that nothing of ours is connected while a round is measured.
 */
export async function query<Row extends pg.QueryResultRow>(
  url: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  await client.connect();
  try {
    return (await client.query<Row>(text, [...values])).rows;
  } finally {
    await client.end();
  }
}

/** How much has been written to the write-ahead log of the whole server. */
export async function walBytes(url: string): Promise<number> {
  const [row] = await query<{ bytes: number }>(
    url,
    "select (pg_current_wal_insert_lsn() - '0/0')::float8 as bytes",
  );
  return row?.bytes ?? Number.NaN;
}

/** So that nobody pays for pages that another has left dirty, or plans with statistics of an empty table. */
export async function tidy(url: string): Promise<void> {
  await query(url, "vacuum (analyze, skip_locked)");
  await query(url, "checkpoint");
}

/** Pools let go of idle connections after a while: until then there may be none left for 64 more. */
export async function untilFree(url: string, connections: number): Promise<void> {
  for (let tries = 0; tries < 150; tries += 1) {
    const [row] = await query<{ free: number }>(
      url,
      `select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
        - (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as free`,
    );
    if ((row?.free ?? 0) >= connections) return;
    await sleep(200);
  }
  throw new BrokenMeasurement(`PostgreSQL has no ${connections} connections left: raise max_connections`);
}

async function durableSettings(url: string): Promise<Record<string, string>> {
  const rows = await query<{ name: string; setting: string }>(
    url,
    "select name, current_setting(name) as setting from pg_settings where name = any ($1)",
    [SETTINGS],
  );
  const settings = Object.fromEntries(rows.map((row) => [row.name, row.setting]));
  for (const name of ["fsync", "synchronous_commit", "full_page_writes"]) {
    if (settings[name] !== "on")
      throw new BrokenMeasurement(`PostgreSQL runs with ${name} = ${settings[name]}`);
  }
  return settings;
}

async function postmasterPid(url: string): Promise<number | null> {
  if (!["127.0.0.1", "localhost", "::1", "[::1]"].includes(new URL(url).hostname)) return null;
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
    const parent = rows[0] ? processStat(rows[0].pid)?.parent : undefined;
    return parent !== undefined && processStat(parent)?.command.startsWith("postgres") ? parent : null;
  } finally {
    await client.end();
  }
}
