import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BrokenMeasurement } from "./broken.ts";
import { interruption, listenForInterruption } from "./interruption.ts";

/**
 * Runs a bench as a program: a folder for its files, removed afterwards, and an exit status that says whether
 * its numbers can be trusted. The folder lies in memory where possible: what is written while measuring must
 * not occupy the disk.
 */
export async function runBench(run: (folder: string) => Promise<void>): Promise<void> {
  listenForInterruption();
  const folder = await mkdtemp(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "tollgate-bench-"));
  try {
    await run(folder);
  } catch (error) {
    const status = explain(error as Error);
    await rm(folder, { recursive: true, force: true });
    process.exit(status);
  }
  await rm(folder, { recursive: true, force: true });
}

function explain(error: Error): number {
  if (interruption.aborted) {
    process.stderr.write("interrupted\n");
    return 130;
  }
  const message =
    error instanceof BrokenMeasurement ? `the measurement is broken: ${error.message}` : error.stack;
  process.stderr.write(`${message}\n`);
  return 1;
}
