import { execFile } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { DatabaseUnavailable, sqlState } from "../database.ts";
import { adminUrl, tollgateUrl } from "./embedded-access.ts";
import { ADMIN_PASSWORD, ownPassword } from "./embedded-cluster.ts";
import type { ConversionStep } from "./embedded-conversion.ts";
import { claimCluster, keepClaim, releaseCluster } from "./embedded-owner.ts";
import { type PreparedCluster, prepareCluster } from "./embedded-prepare.ts";
import { ensureRunning } from "./embedded-process.ts";
import { ensureRoles } from "./embedded-roles.ts";
import { beginUse, stopUnlessUsed } from "./embedded-use.ts";
import { hasEnded, identityOf, movedClusterFolder, type Postmaster, runningPostgres } from "./postmaster.ts";
import { repeatUntilEnded } from "./repeat-until-ended.ts";

const run = promisify(execFile);

export type EmbeddedPostgres = {
  /** As the role `tollgate`, which owns the tables and is no superuser. */
  url: string;
  /** As the superuser, for code that creates databases or roles: tests and benchmarks. */
  adminUrl: string;
  /** Stops the cluster, unless another process still uses it. */
  stop(): Promise<void>;
};

const CONNECT_WITHIN_MS = 30_000;
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
  const prepared = await prepareCluster(dataDir);
  const { home, cluster, account, password } = prepared;
  await claimCluster(prepared);
  const claim = keepClaim(prepared);
  const endClaim = async () => {
    await claim.end();
    if ((await runningPostgres(cluster)) === null) await releaseCluster(home);
  };
  let postmaster: Postmaster | null = null;
  const ensure = async (port: number | null) => {
    const ready = await ensureRunning(prepared, { port, maxConnections });
    const running = await runningPostgres(cluster);
    const folderIdentity = await identityOf(cluster);
    if (running === null || folderIdentity === null) return ready;
    // Where the folder has been moved, another cluster may be there.
    if (postmaster === null || postmaster.folderIdentity === folderIdentity || (await hasEnded(postmaster)))
      postmaster = { pid: running.pid, folderIdentity };
    return ready;
  };
  try {
    const whenUnknown = (await runningPostgres(cluster)) === null ? "stop" : "keep";
    const { port, access, use } = await retryWhileStopping(async () => {
      const port = await ensure(null);
      const access = {
        port,
        password,
        adminPassword: await ownPassword(join(home, ADMIN_PASSWORD), account),
      };
      try {
        await ensureRoles(access, reached);
        return { port, access, use: await beginUse(tollgateUrl(access)) };
      } catch (error) {
        if (!isStopping(error))
          await stopUnlessUsed(tollgateUrl(access), () => stop(prepared, postmaster), whenUnknown);
        throw error;
      }
    });
    // Restarts the database if it crashed or was stopped; until then we answer 503.
    const watch = repeatUntilEnded(WATCH_EVERY_MS, async () => {
      await ensure(port);
      await use.renew();
    });
    return {
      url: tollgateUrl(access),
      adminUrl: adminUrl(access),
      stop: async () => {
        await watch.end();
        await use.end(() => stop(prepared, postmaster));
        await endClaim();
      },
    };
  } catch (error) {
    await endClaim();
    throw error;
  }
}

/** Another process may be stopping the database, which it takes for unused, while this one connects. */
async function retryWhileStopping<Result>(connect: () => Promise<Result>): Promise<Result> {
  const giveUpAt = performance.now() + CONNECT_WITHIN_MS;
  for (;;) {
    try {
      return await connect();
    } catch (error) {
      if (!isStopping(error) || performance.now() > giveUpAt) throw error;
      await sleep(100);
    }
  }
}

// Refused (28), no such database (3D), too many connections (53): waiting does not help.
const REFUSED = /^(28|3D|53)/;

function isStopping(error: unknown): boolean {
  return error instanceof DatabaseUnavailable && !REFUSED.test(sqlState(error.cause) ?? "");
}

async function stop(
  { binaries, cluster, account }: PreparedCluster,
  postmaster: Postmaster | null,
): Promise<void> {
  const isMoved = postmaster !== null && postmaster.folderIdentity !== (await identityOf(cluster));
  const folder = isMoved ? await movedClusterFolder(postmaster, account) : cluster;
  // pg_ctl signals whatever process has the pid.
  if (folder === null || (await runningPostgres(folder)) === null) return;
  const args = ["stop", "--pgdata", folder, "--mode=fast", "--wait"];
  await run(binaries.pg_ctl, args, account ?? {}).catch(() => {
    // It has already been stopped, e.g. by an operator.
  });
}
