import { execFile } from "node:child_process";
import { chown, open, readFile, stat, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { type Account, EmbeddedPostgresFailed, errorIn, reasonOfFailure } from "./embedded-account.ts";
import { claimCluster } from "./embedded-owner.ts";
import type { PreparedCluster } from "./embedded-prepare.ts";
import { type PidFile, pidFileOf, readPidFile } from "./postmaster.ts";
import { removeSocketLocks, SOCKET_FOLDER } from "./postmaster-socket.ts";
import { removeUnchanged } from "./remove-unchanged.ts";

const run = promisify(execFile);

/** Crash recovery may take long. */
const READY_WITHIN_MS = 120_000;
const START_TRIES = 10;
/** Of the log of one start. */
const MAX_LOG_BYTES = 64 * 1024;

type StartableCluster = Omit<PreparedCluster, "password">;

type StartSettings = {
  /** Required when other processes are already connected to it; `null`: any free one. */
  port: number | null;
  maxConnections: number;
};

/**
 * Starts the cluster unless it runs, and waits until it is ready.
 * @returns its port
 * @throws EmbeddedPostgresFailed also while another container or machine uses it
 */
export async function ensureRunning(prepared: StartableCluster, settings: StartSettings): Promise<number> {
  const { home, cluster } = prepared;
  const giveUpAt = performance.now() + READY_WITHIN_MS;
  const log = join(home, "log");
  for (let failures = 0; ; ) {
    const logBytesBefore = await sizeOf(log);
    await claimCluster(prepared);
    const found = await readPidFile(cluster);
    if (found?.process === "other PostgreSQL") throw namesAnother(cluster, found);
    const running = found?.process === "ours";
    if (running && found.state === "ready") return found.port;
    try {
      // A server that runs but is not ready is recovering from a crash, or was just started by another
      // process.
      if (!running) {
        // PostgreSQL would mistake the other process for itself.
        if (found?.process === "unrelated") {
          await removeUnchanged(pidFileOf(cluster), found.text);
          await removeSocketLocks(cluster);
        }
        // Some file systems have no sockets, e.g. folders that a desktop shares with its containers.
        const socketFolder = failures === 0 ? SOCKET_FOLDER : "";
        await start(prepared, { ...settings, socketFolder });
      } else if (performance.now() > giveUpAt) throw new Error("it does not get ready");
    } catch (error) {
      failures += 1;
      if (failures >= START_TRIES || running) {
        const reason = (await loggedError(log, logBytesBefore)) ?? reasonOfFailure(error);
        throw new EmbeddedPostgresFailed(
          `DATA_DIR: starting the database in ${cluster} failed: ${reason} (see ${log})`,
        );
      }
    }
    await sleep(100);
  }
}

async function sizeOf(file: string): Promise<number> {
  return stat(file).then(
    ({ size }) => size,
    () => 0,
  );
}

/** The error that ended a start, which `pg_ctl` leaves to the log; `null`: there is none. */
async function loggedError(log: string, offsetBytes: number): Promise<string | null> {
  const file = await open(log).catch(() => null);
  if (file === null) return null;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_LOG_BYTES), 0, MAX_LOG_BYTES, offsetBytes);
    return errorIn(buffer.subarray(0, bytesRead).toString());
  } finally {
    await file.close();
  }
}

function namesAnother(cluster: string, { pid }: PidFile): EmbeddedPostgresFailed {
  return new EmbeddedPostgresFailed(
    `DATA_DIR: ${pidFileOf(cluster)} names process ${pid}, a PostgreSQL in another folder: stop it, or remove that file if this folder is a copy`,
  );
}

async function start(
  { binaries, home, cluster, account }: StartableCluster,
  { port, maxConnections, socketFolder }: StartSettings & { socketFolder: string },
) {
  const options = [
    `-p ${port ?? (await choosePort(home, account))}`,
    ...[
      "-c listen_addresses=127.0.0.1",
      `-c unix_socket_directories=${socketFolder}`,
      `-c max_connections=${maxConnections}`,
      // Details quote rows: the log would keep addresses of people who have long been deleted.
      "-c log_error_verbosity=terse",
      // The first change of a page after a checkpoint writes the whole page to the log; compressed, it takes a sixth.
      "-c wal_compression=on",
    ],
  ].join(" ");
  const files = ["--pgdata", cluster, "--log", join(home, "log")];
  await run(
    binaries.pg_ctl,
    ["start", ...files, "--wait", "--timeout=60", "--options", options],
    account ?? {},
  );
}

/** Reuses the last port where it is free, so that connected processes find it again. */
async function choosePort(home: string, account: Account): Promise<number> {
  const file = join(home, "port");
  const last = Number(await readFile(file, "utf8").catch(() => "0"));
  const port = await freePort(last).catch(() => freePort(0));
  await writeFile(file, `${port}\n`);
  if (account) await chown(file, account.uid, account.gid);
  return port;
}

function freePort(preferred: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(preferred, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
