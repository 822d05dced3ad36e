import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, chown, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { openDatabase } from "../../src/store/database.ts";
import { unprivilegedAccount } from "../../src/store/embedded/embedded-account.ts";
import { cleanedUp } from "../support/cleanup.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const run = promisify(execFile);

/** One PostgreSQL server, to be killed, stopped and promoted. */
type PostgresNode = {
  port: number;
  url: string;
  rows<Row = Record<string, unknown>>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  start(): Promise<void>;
  /**
   * To the server and all its processes: `SIGKILL` as a crash of the machine would, `SIGSTOP` and `SIGCONT`.
   */
  signal(signal: NodeJS.Signals): Promise<void>;
};

export type ReplicatedPostgres = {
  /** Names both servers, as an operator would in `DATABASE_URL`. */
  url: string;
  primary(): PostgresNode;
  standby(): PostgresNode;
  /** Promotes the standby, which then commits without one. The former primary must be dead or stopped. */
  promote(): Promise<void>;
  /** Makes the former primary a standby of the new one, and commits wait for it again if `synchronous`. */
  rejoin(options?: { synchronous: boolean }): Promise<void>;
  /** Whether commits wait for the standby. */
  setSynchronous(isSynchronous: boolean): Promise<void>;
  remove(): Promise<void>;
};

const STANDBY = "standby";
/** A standby on a busy machine first has to read the log that it lacks. */
const START_WITHIN_MS = 240_000;
// A former primary that was rewound reads the log from the last checkpoint of both on: as much as five
// minutes of load.
const SETTINGS = `
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_connections = 100
wal_log_hints = on
wal_keep_size = '2GB'
max_wal_size = '256MB'
wal_retrieve_retry_interval = '200ms'
wal_sender_timeout = '5s'
shared_buffers = '64MB'
`;

/**
 * A primary with a streaming standby of Debian's PostgreSQL, on free ports, trusting this machine.
 * @param replicateThrough the port at which the standby reaches the primary's
 */
export async function startReplicatedPostgres(
  bin: string,
  replicateThrough = async (primaryPort: number) => primaryPort,
): Promise<ReplicatedPostgres> {
  const folder = await temporaryFolder();
  const account = await unprivilegedAccount();
  if (account) await chown(folder, account.uid, account.gid);
  const asUser = account ?? {};
  const program = (name: string, ...parameters: string[]) => run(join(bin, name), parameters, asUser);
  const nodes = [await node(bin, folder, "one", asUser), await node(bin, folder, "two", asUser)] as const;
  let [primary, standby] = nodes as readonly [OwnNode, OwnNode];

  const conninfo = (port: number) =>
    `host=127.0.0.1 port=${port} user=tollgate dbname=postgres application_name=${STANDBY}`;
  const follow = async () => {
    const port = await replicateThrough(primary.port);
    await appendFile(join(standby.data, "postgresql.auto.conf"), `primary_conninfo = '${conninfo(port)}'\n`);
    await standby.start();
  };
  const copyPrimary = async () => {
    await rm(standby.data, { recursive: true, force: true });
    await program(
      "pg_basebackup",
      ...["-d", conninfo(primary.port), "-D", standby.data, "-R", "-X", "stream", "-c", "fast"],
    );
  };
  const setSynchronous = async (isSynchronous: boolean) => {
    await primary.rows(`alter system set synchronous_standby_names = '${isSynchronous ? STANDBY : ""}'`);
    await primary.rows("select pg_reload_conf()");
    await eventually(
      async () => {
        const [row] = await primary.rows<{ state: string }>(
          "select sync_state as state from pg_stat_replication",
        );
        return !isSynchronous || row?.state === "sync";
      },
      true,
      START_WITHIN_MS,
    );
  };

  await program("initdb", "-D", primary.data, "-U", "tollgate", "-A", "trust", "-E", "UTF8");
  await appendFile(join(primary.data, "postgresql.conf"), SETTINGS);
  await primary.start();
  await copyPrimary();
  await follow();
  await setSynchronous(true);

  return {
    url: `postgres://tollgate@${nodes.map(({ port }) => `127.0.0.1:${port}`).join(",")}/postgres`,
    primary: () => primary,
    standby: () => standby,
    setSynchronous,
    promote: async () => {
      await standby.rows("alter system set synchronous_standby_names = ''");
      await standby.rows("select pg_reload_conf()");
      await standby.rows("select pg_promote(true, 60)");
      [primary, standby] = [standby, primary];
    },
    rejoin: async ({ synchronous } = { synchronous: true }) => {
      await standby.signal("SIGKILL");
      // pg_rewind reads the new timeline from the control file, which is written with the next checkpoint.
      await primary.rows("checkpoint");
      await program(
        "pg_rewind",
        ...["--target-pgdata", standby.data, "--source-server", conninfo(primary.port), "-R"],
      ).catch(copyPrimary);
      await follow();
      await setSynchronous(synchronous);
    },
    remove: cleanedUp(async () => {
      for (const { signal } of nodes) await signal("SIGKILL");
      await Promise.all(nodes.map(({ close }) => close()));
    }),
  };
}

type OwnNode = PostgresNode & { data: string; close(): Promise<void> };

async function node(bin: string, folder: string, name: string, asUser: object): Promise<OwnNode> {
  const port = await freePort();
  const data = join(folder, name);
  const url = `postgres://tollgate@127.0.0.1:${port}/postgres`;
  const database = openDatabase({ url, prepared: false, maxConnections: 3, answerTimeoutMs: 60_000 });
  let server: ChildProcess | null = null;
  const rows: PostgresNode["rows"] = (text, values = []) =>
    database.run({ name: text.slice(0, 60), text }, values);
  return {
    port,
    data,
    url,
    rows,
    start: async () => {
      server = spawn(join(bin, "postgres"), ["-D", data, "-p", String(port)], {
        stdio: "ignore",
        ...asUser,
      });
      const starting = server;
      await eventually(
        async () => {
          if (starting.exitCode !== null) throw new Error(`PostgreSQL ended with ${starting.exitCode}`);
          return (await rows("select 1").catch(() => [])).length === 1;
        },
        true,
        START_WITHIN_MS,
      );
    },
    signal: async (signal) => {
      if (!server || server.exitCode !== null || server.signalCode !== null) return;
      const pid = server.pid as number;
      const ended = signal === "SIGKILL" ? once(server, "exit") : null;
      // The server first: it would replace its processes otherwise.
      const others = await childrenOf(pid);
      for (const process of [pid, ...others]) sendSignal(process, signal);
      await ended;
      // They share memory that a new server must not find in use.
      if (ended) await eventually(async () => others.every((process) => !isRunning(process)), true);
    },
    close: () => database.close(),
  };
}

/** `0` only asks whether the process is there. */
function sendSignal(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

function isRunning(pid: number): boolean {
  return sendSignal(pid, 0);
}

async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8").catch(() => "");
  return text.split(" ").filter(Boolean).map(Number);
}
