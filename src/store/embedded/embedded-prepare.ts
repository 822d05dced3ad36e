import { existsSync } from "node:fs";
import { chown, mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import {
  type Account,
  checkAccess,
  clusterAccount,
  EmbeddedPostgresFailed,
  letEnter,
} from "./embedded-account.ts";
import { type Binaries, findBinaries } from "./embedded-binaries.ts";
import { createCluster, ownPassword } from "./embedded-cluster.ts";

/** A cluster that may be started. */
export type PreparedCluster = {
  binaries: Binaries;
  /** The folder of the cluster, its log and its passwords. */
  home: string;
  cluster: string;
  account: Account;
  /** Of the role `tollgate`. */
  password: string;
};

// pg_ctl passes the path to a shell in double quotes, and PostgreSQL writes it as a line of its pid file.
const CHANGED_BY_SHELL = /["$`\\\r\n]/;

/** Creates what is missing in the folder. @throws EmbeddedPostgresFailed when PostgreSQL cannot run in it */
export async function prepareCluster(dataDir: string): Promise<PreparedCluster> {
  const home = resolve(dataDir, "postgres");
  if (CHANGED_BY_SHELL.test(home)) {
    throw new EmbeddedPostgresFailed(
      `DATA_DIR: the path of the embedded database must not contain ", $, \`, \\ or a line break, e.g. DATA_DIR=/var/lib/tollgate`,
    );
  }
  const cluster = join(home, "cluster");
  const binaries = await findBinaries();
  const account = await clusterAccount(cluster);
  await mkdir(home, { recursive: true });
  if (account) {
    // A cluster that exists may be another user's, who starts it too.
    if (!existsSync(cluster)) await chown(home, account.uid, account.gid);
    await letEnter(dataDir, account);
    await checkAccess(home, binaries.postgres, account);
  }
  const password = await ownPassword(join(home, "password"), account);
  await createCluster(binaries, home, cluster, account);
  return { binaries, home, cluster, account, password };
}
