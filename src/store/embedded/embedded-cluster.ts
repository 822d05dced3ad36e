import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { chown, link, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Account, EmbeddedPostgresFailed, reasonOfFailure } from "./embedded-account.ts";
import type { Binaries } from "./embedded-binaries.ts";

const run = promisify(execFile);

/** The file with the superuser's password. */
export const ADMIN_PASSWORD = "admin-password";

/** Creates the cluster, unless it exists. */
export async function createCluster(
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
    throw new EmbeddedPostgresFailed(
      `DATA_DIR: making the database in ${cluster} failed: ${reasonOfFailure(error)}`,
    );
  });
  await rename(draft, cluster).catch(ignoring("ENOTEMPTY", "EEXIST"));
  await rm(draft, { recursive: true, force: true });
}

/** A role's password, generated once; readable only by the owner. */
export async function ownPassword(file: string, account: Account): Promise<string> {
  if (!existsSync(file)) {
    // Written to a temporary file and linked: of several processes starting together one wins, and all read
    // the same password.
    const draft = `${file}.${randomBytes(6).toString("hex")}`;
    await writeFile(draft, `${randomBytes(24).toString("base64url")}\n`, { mode: 0o600 });
    if (account) await chown(draft, account.uid, account.gid);
    await link(draft, file).catch(ignoring("EEXIST"));
    await rm(draft);
  }
  return (await readFile(file, "utf8")).trim();
}

function ignoring(...codes: readonly string[]): (error: NodeJS.ErrnoException) => void {
  return (error) => {
    if (!codes.includes(error.code ?? "")) throw error;
  };
}
