import { figures } from "./limits/figures.ts";
import { readOptions } from "./limits/options.ts";
import { startRedis } from "./limits/redis-server.ts";
import { report } from "./limits/report.ts";
import { measureAll } from "./limits/standings.ts";
import { writeResults } from "./shared/results-file.ts";
import { runBench } from "./shared/run-bench.ts";

const options = readOptions(process.argv.slice(2));

await runBench(async (folder) => {
  const startedAt = new Date();
  const redis = await startRedis(folder);
  const contenders = await measureAll({ options, redis }).finally(() => redis.stop());
  const reached = figures(contenders);
  const measured = { redis: redis.version, figures: reached, contenders };
  const file = await writeResults("limits", { startedAt, options, measured });
  process.stdout.write(`\n${report(contenders, reached, options)}\n\neverything measured: ${file}\n`);
});
