import { checksPerSecond } from "./entitlements/checks-per-second.ts";
import { GOALS } from "./entitlements/goals.ts";
import { readOptions } from "./entitlements/options.ts";
import { overRest } from "./entitlements/over-rest.ts";
import { upgradeSeenMs } from "./entitlements/upgrade-seen.ts";
import { compareWithGoals, figuresTable } from "./shared/figures.ts";
import { openPostgres } from "./shared/postgres.ts";
import { writeResults } from "./shared/results-file.ts";
import { runBench } from "./shared/run-bench.ts";

await runBench(async (folder) => {
  const startedAt = new Date();
  const options = readOptions(process.argv.slice(2));
  const { parts } = options;
  const perSecond = parts.has("check") ? await checksPerSecond(options) : null;
  const postgres = parts.has("rest") || parts.has("upgrade") ? await openPostgres(options.databaseUrl) : null;
  try {
    const rest = postgres && parts.has("rest") ? await overRest(postgres, folder, options) : null;
    const seenMs = postgres && parts.has("upgrade") ? await upgradeSeenMs(postgres, folder) : null;
    const results = { checksPerSecond: perSecond, rest, upgradeSeenMs: seenMs };
    const figures = compareWithGoals(GOALS, results);
    const file = await writeResults("entitlements", {
      startedAt,
      options,
      measured: { figures, ...results },
    });
    process.stdout.write(`\n${figuresTable(figures)}\n\neverything measured: ${file}\n`);
  } finally {
    await postgres?.stop();
  }
});
