import { execFile } from "node:child_process";
import { readFile, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Account } from "./embedded-account.ts";

const run = promisify(execFile);

export type PidFile = {
  text: string;
  pid: number;
  port: number;
  /** `ready` once it accepts connections. */
  state: string;
  /** What runs under this pid: the cluster's PostgreSQL, another one, anything else, or nothing. */
  process: "ours" | "other PostgreSQL" | "unrelated" | "none";
};

/**
 * Reads `postmaster.pid`: pid, folder, start time, port, ..., and in the eighth line the state. `null`: there
 * is none.
 */
export async function readPidFile(cluster: string): Promise<PidFile | null> {
  const text = await readFile(pidFileOf(cluster), "utf8").catch(() => null);
  if (text === null) return null;
  const lines = text.split("\n");
  const pid = Number(lines[0]);
  return {
    text,
    pid,
    port: Number(lines[3]),
    state: lines[7]?.trim() ?? "",
    process: await processOf(pid, cluster),
  };
}

/** `null`: not running. */
export async function runningPostgres(cluster: string): Promise<PidFile | null> {
  const found = await readPidFile(cluster);
  return found?.process === "ours" ? found : null;
}

/** A cluster's PostgreSQL that this process has found running, and the identity of its folder. */
export type Postmaster = { pid: number; folderIdentity: string };

/** Where a running cluster's folder has been moved to; `null`: it does not run, or the system does not tell. */
export async function movedClusterFolder(
  { pid, folderIdentity }: Postmaster,
  account: Account,
): Promise<string | null> {
  const found = await run("readlink", [`/proc/${pid}/cwd`], account ?? {}).catch(() => null);
  const folder = found?.stdout.trim() ?? "";
  // Another process may have its pid by now, or the pid file may name another.
  if ((await identityOf(folder)) !== folderIdentity) return null;
  return (await runningPostgres(folder))?.pid === pid ? folder : null;
}

/** Or another process has its pid by now. */
export async function hasEnded({ pid }: Postmaster): Promise<boolean> {
  return !isAlive(pid) || !isPostgres(await commandOf(pid));
}

export function pidFileOf(cluster: string): string {
  return join(cluster, "postmaster.pid");
}

async function processOf(pid: number, cluster: string): Promise<PidFile["process"]> {
  if (!isAlive(pid)) return "none";
  const command = await commandOf(pid);
  if (!isPostgres(command)) return "unrelated";
  // A postmaster's current folder is its cluster, whatever path it was started with or has been moved to.
  const [folder, ours] = await Promise.all([currentFolder(pid, cluster), identityOf(cluster)]);
  if (folder !== null) return folder === ours ? "ours" : "other PostgreSQL";
  const named = CLUSTER_OPTION.exec(command)?.[1];
  return named !== undefined && (await isSameFolder(named, cluster)) ? "ours" : "other PostgreSQL";
}

const CLUSTER_OPTION = /[\0 ](?:-D|--pgdata)[\0 =](.+?)(?:[\0 ]-[a-z][\0 ]|\0?$)/;
const POSTGRES = /(?:^|\/)postgres(?:[:\s]|$)/;

function isPostgres(command: string): boolean {
  return POSTGRES.test(command.split("\0")[0] ?? "");
}

function isAlive(pid: number): boolean {
  if (!(pid > 0)) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Empty for a process that has ended and that its parent has not waited for. */
async function commandOf(pid: number): Promise<string> {
  return readFile(`/proc/${pid}/cmdline`, "utf8").catch(async () => {
    const { stdout } = await run("ps", ["-o", "args=", "-p", String(pid)]).catch(() => ({ stdout: "" }));
    return stdout.trim();
  });
}

/** Device and inode; `null`: cannot be read, or no such folder. */
export async function identityOf(path: string): Promise<string | null> {
  const found = await stat(path, { bigint: true }).catch(() => null);
  return found && `${found.dev}:${found.ino}`;
}

async function currentFolder(pid: number, cluster: string): Promise<string | null> {
  const path = `/proc/${pid}/cwd`;
  const identity = await identityOf(path);
  if (identity !== null || process.getuid?.() !== 0) return identity;
  // In a container, root may not look into the processes of other users, but each user into its own.
  const { uid, gid } = await stat(cluster);
  const found = await run("stat", ["-L", "-c", "%d:%i", path], { uid, gid }).catch(() => null);
  return found?.stdout.trim() ?? null;
}

async function isSameFolder(path: string, cluster: string): Promise<boolean> {
  const [named, ours] = await Promise.all([path, cluster].map((one) => realpath(one).catch(() => null)));
  return named !== null && named === ours;
}
