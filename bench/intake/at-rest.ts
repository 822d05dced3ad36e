import { chmod, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { residentMegabytes } from "../shared/cpu.ts";
import { interruption } from "../shared/interruption.ts";
import { startServerProcess } from "../shared/server-process.ts";
import { median } from "../shared/statistics.ts";

export type AtRest = {
  /**
   * From the start of the process to the first 200 of `/api/ready`, with a database that exists; the median.
   */
  readyMs: number;
  readyMsRounds: number[];
  /** Starting for the first time, making the database. */
  firstReadyMs: number;
  /** Of the server's process alone, after 10 s without a request. `null` without /proc. */
  residentMegabytes: number | null;
};

const STARTS = 5;
const IDLE_MS = 10_000;

/** The server as `script/server` runs it, with its embedded database. */
export async function measureAtRest(folder: string): Promise<AtRest> {
  const home = await mkdtemp("/var/tmp/tollgate-bench-rest-");
  try {
    await chmod(home, 0o755);
    const program = {
      name: "tollgate-at-rest",
      script: "src/server.ts",
      variables: { DATA_DIR: join(home, "data"), EMBEDDED_IN_PRODUCTION: "on" },
    };
    const first = await startServerProcess(program, folder);
    await first.stop();
    const readyMsRounds: number[] = [];
    let resident: number | null = null;
    for (let start = 1; start <= STARTS; start += 1) {
      interruption.throwIfAborted();
      const server = await startServerProcess(program, folder);
      readyMsRounds.push(server.readyAfterMs);
      if (start === STARTS) {
        await sleep(IDLE_MS);
        resident = residentMegabytes(server.pid);
      }
      await server.stop();
    }
    return {
      readyMs: median(readyMsRounds),
      readyMsRounds,
      firstReadyMs: first.readyAfterMs,
      residentMegabytes: resident,
    };
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}
