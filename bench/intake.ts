import { measureAtRest } from "./intake/at-rest.ts";
import type { Bench } from "./intake/contender.ts";
import { measureDuplicates } from "./intake/duplicates.ts";
import { figures } from "./intake/figures.ts";
import { measureHistory } from "./intake/history.ts";
import { measureLocked } from "./intake/locked.ts";
import { measureOffered } from "./intake/offered.ts";
import { measureOldSnapshot } from "./intake/old-snapshot.ts";
import { readOptions } from "./intake/options.ts";
import { measureOverload } from "./intake/overload.ts";
import { report } from "./intake/report.ts";
import type { Results } from "./intake/results.ts";
import { measureSideBySide } from "./intake/side-by-side.ts";
import { openPostgres } from "./shared/postgres.ts";
import { writeResults } from "./shared/results-file.ts";
import { runBench } from "./shared/run-bench.ts";

await runBench(async (folder) => {
  const startedAt = new Date();
  const options = readOptions(process.argv.slice(2));
  const postgres = await openPostgres(options.databaseUrl);
  const results = await measure({ options, postgres, folder }).finally(() => postgres.stop());
  const reached = figures(results);
  const measured = { postgres: postgres.settings, figures: reached, ...results };
  const file = await writeResults("intake", { startedAt, options, measured });
  process.stdout.write(`\n${report(results, reached, options)}\n\neverything measured: ${file}\n`);
});

/** One part after the other, so that only one thing at a time is under load. */
async function measure(bench: Bench): Promise<Results> {
  const { parts } = bench.options;
  const sideBySide = await measureSideBySide(bench);
  const duplicates = parts.has("duplicates") ? await measureDuplicates(bench) : null;
  const offered = parts.has("offered") ? await measureOffered(bench) : null;
  const history = parts.has("history") ? await measureHistory(bench) : null;
  const locked = parts.has("locked") ? await measureLocked(bench) : null;
  const overload = parts.has("overload") ? await measureOverload(bench) : null;
  const oldSnapshot = parts.has("old-snapshot") ? await measureOldSnapshot(bench) : null;
  const atRest = parts.has("rest") ? await measureAtRest(bench.folder) : null;
  return { sideBySide, duplicates, offered, history, locked, overload, oldSnapshot, atRest };
}
