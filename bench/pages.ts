import { goals } from "./pages/goals.ts";
import { inspectPages } from "./pages/inspect.ts";
import { readOptions } from "./pages/options.ts";
import { report } from "./pages/report.ts";
import { signUpSomebody } from "./pages/somebody.ts";
import { compareWithGoals, figuresTable } from "./shared/figures.ts";
import { createMigratedDatabase } from "./shared/migrated-database.ts";
import { openPostgres } from "./shared/postgres.ts";
import { writeResults } from "./shared/results-file.ts";
import { runBench } from "./shared/run-bench.ts";
import { startServerProcess } from "./shared/server-process.ts";

await runBench(async (folder) => {
  const startedAt = new Date();
  const options = readOptions(process.argv.slice(2));
  const postgres = await openPostgres(options.databaseUrl);
  try {
    const databaseUrl = await createMigratedDatabase(postgres, "pages");
    const variables = { DATABASE_URL: databaseUrl, SIMULATOR: "off", RATE_LIMIT_API: "999999/60" };
    const server = await startServerProcess({ name: "tollgate", script: "src/server.ts", variables }, folder);
    try {
      const url = `http://127.0.0.1:${server.port}`;
      const cookie = await signUpSomebody(url, databaseUrl);
      const pages = await inspectPages({ url, cookie, folder }, options);
      const reached = compareWithGoals(goals(pages), pages);
      const file = await writeResults("pages", { startedAt, options, measured: { figures: reached, pages } });
      process.stdout.write(
        `\n${report(pages, options)}\n\n${figuresTable(reached)}\n\neverything measured: ${file}\n`,
      );
    } finally {
      await server.stop();
    }
  } finally {
    await postgres.stop();
  }
});
