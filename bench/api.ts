import { ROUTE, SURFACES, WITH_PAGES } from "./api/contenders.ts";
import { figures } from "./api/figures.ts";
import { readOptions } from "./api/options.ts";
import { populate } from "./api/population.ts";
import { report } from "./api/report.ts";
import { measureSideBySide, type Standing } from "./api/side-by-side.ts";
import { createMigratedDatabase } from "./shared/migrated-database.ts";
import { openPostgres } from "./shared/postgres.ts";
import { writeResults } from "./shared/results-file.ts";
import { runBench } from "./shared/run-bench.ts";

await runBench(async (folder) => {
  const startedAt = new Date();
  const options = readOptions(process.argv.slice(2));
  const postgres = await openPostgres(options.databaseUrl);
  let contenders: Standing[];
  try {
    const databaseUrl = await createMigratedDatabase(postgres, "api");
    await populate(databaseUrl);
    const bench = { options, postgres, databaseUrl, folder };
    contenders = [
      ...(await measureSideBySide(bench, ROUTE, { light: options.parts.has("offered") })),
      ...(await measureSideBySide(bench, SURFACES, { light: false })),
      ...(await measureSideBySide(bench, WITH_PAGES, { light: false })),
    ];
  } finally {
    await postgres.stop();
  }
  const reached = figures(contenders);
  const measured = { postgres: postgres.settings, figures: reached, contenders };
  const file = await writeResults("api", { startedAt, options, measured });
  process.stdout.write(`\n${report(contenders, reached, options)}\n\neverything measured: ${file}\n`);
});
