import { setTimeout as sleep } from "node:timers/promises";
import { readConfig, requireAuthSecret } from "../../src/config/config.ts";
import { createLog } from "../../src/observability/log.ts";
import { runServer } from "../../src/server.ts";

// The real server, with a point at which it crashes or stops: `CRASH_AT=<milestone>:<n>[:SIGSTOP]`.
const [milestone, nth = "1", signal = "SIGKILL"] = (process.env.CRASH_AT ?? "").split(":");
let times = 0;

const environment = readConfig(process.env);
requireAuthSecret(environment);
const log = createLog(environment.logLevel);
const crashAt = async (reached: string) => {
  if (reached !== milestone) return;
  times += 1;
  if (times !== Number(nth)) return;
  // Lets sent statements reach the database: the crash must not come before the step that it is named for.
  await sleep(5);
  process.kill(process.pid, signal);
  await sleep(1_000);
};
// Vitest that is interrupted cleans nothing up.
const { TEST_PID } = process.env;
setInterval(() => process.ppid === Number(TEST_PID) || process.kill(process.pid, "SIGKILL"), 1_000).unref();
// A suite that expects exact shared counts: a busy machine must not look like a Redis that is away.
const waitMs = process.env.LIMITS_ANSWER_WITHIN_MS;
await runServer(environment, {
  log,
  reached: crashAt,
  reachedOutbound: crashAt,
  ...(waitMs ? { limitsAnswerWithinMs: Number(waitMs) } : {}),
});
// A load test needs no line per request, but the parent process waits for "listening".
log.level = process.env.LOG_LEVEL_ONCE_LISTENING ?? environment.logLevel;
