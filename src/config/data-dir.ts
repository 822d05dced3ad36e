import { randomBytes } from "node:crypto";
import { chmod, mkdir, readdir, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { ConfigError } from "./config-error.ts";

/** When we are root, the embedded PostgreSQL runs as another user, who must be able to enter the folder. */
const OWNER_ONLY = 0o700;
const PASSABLE = 0o711;

/**
 * Creates the folder if it is missing, removes access for other users, and checks that it is writable.
 * @throws ConfigError with one line for the operator
 */
export async function prepareDataDir(
  dataDir: string,
  { isRoot = process.getuid?.() === 0 } = {},
): Promise<void> {
  const folder = resolve(dataDir);
  try {
    await createFolder(folder);
    await closeToOthers(folder, isRoot ? PASSABLE : OWNER_ONLY);
    const probe = join(folder, `.write-${randomBytes(6).toString("hex")}`);
    await writeFile(probe, "");
    await rm(probe);
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException;
    throw new ConfigError(
      `DATA_DIR: ${REASONS[code] ?? message}: ${folder}, e.g. DATA_DIR=/var/lib/tollgate`,
      {
        cause: error,
      },
    );
  }
}

/** Only a folder that is ours: DATA_DIR may be set to one that others use too. */
async function closeToOthers(folder: string, allowed: number): Promise<void> {
  const { mode, uid } = await stat(folder);
  const entries = await readdir(folder);
  const isOurs = uid === process.getuid?.() && (entries.length === 0 || entries.includes("secrets.json"));
  if (isOurs && (mode & 0o777 & ~allowed) !== 0) await chmod(folder, mode & allowed);
}

const REASONS: Record<string, string> = {
  EACCES: "this user may not write there",
  EPERM: "this user may not write there",
  EROFS: "the file system is read-only",
  ENOSPC: "no space is left there",
  ENOTDIR: "a file is in the way",
  EEXIST: "a file is in the way",
  ENOENT: "no folder can be made there",
};

// Folder by folder, because Node's recursive mkdir never returns in /proc, where none can be created.
async function createFolder(folder: string): Promise<void> {
  const existing = await stat(folder).catch(() => null);
  if (existing?.isDirectory()) return;
  if (existing) throw Object.assign(new Error("not a folder"), { code: "ENOTDIR" });
  if (dirname(folder) !== folder) await createFolder(dirname(folder));
  await mkdir(folder).catch((error: NodeJS.ErrnoException) => {
    // Another process may have just created it.
    if (error.code !== "EEXIST") throw error;
  });
}
