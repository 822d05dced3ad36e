import { existsSync } from "node:fs";
import { chmod, mkdtemp, rm, statfs } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../../src/store/embedded/embedded.ts";
import { BrokenMeasurement } from "./broken.ts";

const TMPFS = 0x01021994;
const STOP_TRIES = 50;

/**
 * A PostgreSQL in a temporary folder on disk; stopping it removes it. @throws BrokenMeasurement when there is
 * no disk
 */
export async function makeCluster(): Promise<EmbeddedPostgres> {
  // /var/tmp, as /tmp may be in memory, where a flush to disk costs nothing.
  const folder = await mkdtemp("/var/tmp/tollgate-bench-");
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    if ((await statfs(folder)).type === TMPFS) {
      throw new BrokenMeasurement("/var/tmp lies in memory: name a server with --database-url");
    }
    // PostgreSQL may have to run as another user, who must be able to get in.
    await chmod(folder, 0o755);
    const data = join(folder, "data");
    const pidFile = join(data, "postgres/cluster/postmaster.pid");
    const cluster = await startEmbeddedPostgres(data);
    return {
      url: cluster.adminUrl,
      adminUrl: cluster.adminUrl,
      stop: async () => {
        // It does not stop while somebody is connected, and connections take a moment to go.
        for (let tries = 0; tries < STOP_TRIES && existsSync(pidFile); tries += 1) {
          await cluster.stop();
          await sleep(100);
        }
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}
