import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { measureAtRest } from "./at-rest.ts";
import { BrokenMeasurement } from "./broken.ts";
import type { Bench } from "./contender.ts";
import { measureDuplicates } from "./duplicates.ts";
import { figures } from "./figures.ts";
import { measureHistory } from "./history.ts";
import { interruption, listenForInterruption } from "./interruption.ts";
import { measureOffered } from "./offered.ts";
import { readOptions } from "./options.ts";
import { openPostgres } from "./postgres.ts";
import { report } from "./report.ts";
import { type Results, saveResults } from "./results.ts";
import { measureSideBySide } from "./side-by-side.ts";

async function main(): Promise<void> {
  listenForInterruption();
  const startedAt = new Date();
  const options = readOptions(process.argv.slice(2));
  // In memory where possible: writing the requests must not occupy the disk that PostgreSQL flushes to.
  const folder = await mkdtemp(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "tollgate-bench-"));
  try {
    const postgres = await openPostgres(options.databaseUrl);
    let results: Results;
    try {
      results = await measure({ options, postgres, folder });
    } finally {
      await postgres.stop();
    }
    const reached = figures(results);
    const file = await saveResults(results, {
      startedAt,
      options,
      settings: postgres.settings,
      figures: reached,
    });
    process.stdout.write(`\n${report(results, reached, options)}\n\neverything measured: ${file}\n`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** One part after the other, so that only one thing at a time is under load. */
async function measure(bench: Bench): Promise<Results> {
  const { parts } = bench.options;
  const sideBySide = await measureSideBySide(bench);
  const duplicates = parts.has("duplicates") ? await measureDuplicates(bench) : null;
  const offered = parts.has("offered") ? await measureOffered(bench) : null;
  const history = parts.has("history") ? await measureHistory(bench) : null;
  const atRest = parts.has("rest") ? await measureAtRest(bench.folder) : null;
  return { sideBySide, duplicates, offered, history, atRest };
}

await main().catch((error: Error) => {
  if (interruption.aborted) {
    process.stderr.write("interrupted\n");
    process.exit(130);
  }
  const what =
    error instanceof BrokenMeasurement ? `the measurement is broken: ${error.message}` : error.stack;
  process.stderr.write(`${what}\n`);
  process.exit(1);
});
