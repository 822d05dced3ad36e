import { type Measured, measureLayout } from "./processes/measure.ts";
import { readOptions } from "./processes/options.ts";
import { openPostgres } from "./shared/postgres.ts";
import { writeResults } from "./shared/results-file.ts";
import { runBench } from "./shared/run-bench.ts";
import { newTable, shown } from "./shared/table.ts";

await runBench(async (folder) => {
  const startedAt = new Date();
  const options = readOptions(process.argv.slice(2));
  const postgres = await openPostgres(options.databaseUrl);
  const measured: Measured[] = [];
  try {
    for (const layout of options.layouts) {
      measured.push(await measureLayout({ options, postgres, folder }, layout));
    }
  } finally {
    await postgres.stop();
  }
  const file = await writeResults("processes", { startedAt, options, measured: { layouts: measured } });
  const head = [
    "processes",
    "slots",
    "events/s",
    "p99 ms",
    "servers, us an event",
    "PostgreSQL, us an event",
  ];
  const table = newTable(head, head.length);
  for (const layout of measured) {
    table.push([
      shown(layout.processes),
      shown(layout.slots),
      shown(layout.eventsPerSecond),
      shown(layout.p99Ms, 1),
      shown(layout.serverMicrosPerEvent),
      shown(layout.postgresMicrosPerEvent),
    ]);
  }
  process.stdout.write(`\n${table.toString()}\n\neverything measured: ${file}\n`);
});
