import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { chown, mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { APPLICATION_NAME, openDatabase } from "./database.ts";
import { adminUrl, tollgateUrl } from "./embedded-access.ts";
import { type Account, checkAccess, clusterAccount, letEnter } from "./embedded-account.ts";
import { type Binaries, findBinaries } from "./embedded-binaries.ts";
import { ADMIN_PASSWORD, createCluster, ownPassword } from "./embedded-cluster.ts";
import type { ConversionStep } from "./embedded-conversion.ts";
import { claimCluster, keepClaim, releaseCluster } from "./embedded-owner.ts";
import { ensureRunning } from "./embedded-process.ts";
import { ensureRoles } from "./embedded-roles.ts";
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

const WATCH_EVERY_MS = 2_000;

/**
 * A private PostgreSQL cluster in `dataDir`, created on first use. It runs as a separate process and survives
 * our crash: the next start reuses it, or restarts it and waits for recovery.
 * @param options.reached called after each step of the conversion of a cluster that an earlier version created
 * @param options.maxConnections 100 unless given; without effect on a cluster that another process has started
 */
export async function startEmbeddedPostgres(
  dataDir: string,
  options: { reached?: (step: ConversionStep) => void; maxConnections?: number } = {},
): Promise<EmbeddedPostgres> {
  const { reached, maxConnections = 100 } = options;
  const home = resolve(dataDir, "postgres");
  const cluster = join(home, "cluster");
  const binaries = await findBinaries();
  const account = await clusterAccount(cluster);
  await mkdir(home, { recursive: true });
  if (account) {
    if (!existsSync(cluster)) await chown(home, account.uid, account.gid);
    await letEnter(dataDir, account);
    await checkAccess(home, binaries.postgres, account);
  }
  const password = await ownPassword(join(home, "password"), account);
  await createCluster(binaries, home, cluster, account);
  await claimCluster(home, cluster, account);
  const claim = keepClaim(home, cluster, account);

  const port = await ensureRunning(binaries, home, cluster, account, { port: null, maxConnections });
  const adminPassword = await ownPassword(join(home, ADMIN_PASSWORD), account);
  const access = { port, password, adminPassword };
  await ensureRoles(access, reached);
  const url = tollgateUrl(access);
  const watch = keepRunning(
    async () => (await runningPostgres(cluster)) !== null,
    () => ensureRunning(binaries, home, cluster, account, { port, maxConnections }),
  );
  return {
    url,
    adminUrl: adminUrl(access),
    stop: async () => {
      await watch.end();
      await stopUnlessUsed(binaries, cluster, account, url);
      await claim.end();
      if ((await runningPostgres(cluster)) === null) await releaseCluster(home);
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
