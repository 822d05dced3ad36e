import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { startTestPostgres } from "../test/support/postgres.ts";
import { endGroups, endUsersOf, signalGroup } from "./end-processes.ts";
import { readArguments } from "./read-arguments.ts";
import { serverTests } from "./server-tests.ts";

const USAGE = `script/steady             the whole suite three times beside a busy loop, then each file that starts
                          servers ten times beside two
script/steady FILE ...    these files ten times beside two busy loops
  --suite N               run the whole suite N times instead of three
  --times N               run each file N times instead of ten
  --at-once N             run N files at the same time: quicker, and each has busier neighbours than the loops
  --stop-after MINUTES    start no more runs after so many minutes
Stop it with Ctrl+C or SIGTERM. What failed is printed, and written whole to test-results/steady.log.`;

const PROJECT = join(import.meta.dirname, "..");
const VITEST = join(PROJECT, "node_modules/vitest/vitest.mjs");
const LOG = join(PROJECT, "test-results/steady.log");
/** As many as the files of a whole run have, of which two run at once on a PostgreSQL of 100 connections. */
const CONNECTIONS_PER_FILE = 50;

const { values, positionals } = readArguments(USAGE, {
  suite: { type: "string", default: "3" },
  times: { type: "string", default: "10" },
  "at-once": { type: "string", default: "1" },
  "stop-after": { type: "string" },
});
const suiteRuns = positionals.length === 0 ? positive("suite") : 0;
const passes = positive("times");
const files = positionals.length > 0 ? [...new Set(positionals)] : serverTests(PROJECT);
const atOnce = Math.min(positive("at-once"), files.length);
const stopAfterMs = values["stop-after"] === undefined ? Infinity : positive("stop-after") * 60_000;

mkdirSync(join(PROJECT, "test-results"), { recursive: true });
rmSync(LOG, { force: true });
// Everything temporary in one folder: with it all of that is removed, and by its name every PostgreSQL is found.
const folder = mkdtempSync(join(tmpdir(), "tollgate-steady-"));
chmodSync(folder, 0o755);
process.env.TMPDIR = folder;

const running = new Set<number>();
const failures = new Map<string, number>();
const lastMs = new Map<string, number>();
let runs = 0;
let isStopped = false;
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    if (isStopped) return;
    isStopped = true;
    void end(130);
  });
}

const postgres = startTestPostgres({ maxConnections: CONNECTIONS_PER_FILE * Math.max(2, atOnce) });
await postgres.catch(async (error) => {
  if (isStopped) return;
  console.error(error);
  await end(1);
});
startBusyLoop();
for (let run = 1; run <= suiteRuns; run += 1) {
  await measured(`the whole suite, ${run} of ${suiteRuns}`, () => test(null));
}
startBusyLoop();
for (let pass = 1; pass <= passes; pass += 1) {
  await measured(`pass ${pass} of ${passes}`, async () => {
    // The longest first, so that none of them is left to run alone at the end.
    const queue = files.toSorted((a, b) => (lastMs.get(b) ?? 0) - (lastMs.get(a) ?? 0));
    const runQueue = async () => {
      for (let file = queue.shift(); file; file = queue.shift()) await test(file);
    };
    // Pass by pass, so that a file never runs beside itself.
    await Promise.all(Array.from({ length: atOnce }, runQueue));
  });
}
if (!isStopped) await end(failures.size === 0 && runs > 0 ? 0 : 1);

function positive(option: "suite" | "times" | "at-once" | "stop-after"): number {
  const number = Number(values[option]);
  if (Number.isInteger(number) && number > 0) return number;
  console.error(`--${option}: "${values[option]}" is not a whole number above 0`);
  process.exit(2);
}

function mayStart(): boolean {
  return !isStopped && performance.now() < stopAfterMs;
}

function startBusyLoop(): void {
  new Worker("for (;;);", { eval: true }).unref();
}

/** Prints how many runs a part has made, and in what time. */
async function measured(part: string, make: () => Promise<unknown>): Promise<void> {
  if (!mayStart()) return;
  const [startedAt, runsBefore, failedBefore] = [performance.now(), runs, failed()];
  await make();
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  const counts = `${runs - runsBefore} runs, ${failed() - failedBefore} failed`;
  if (!isStopped) console.log(`${new Date().toISOString()} ${part}: ${counts}, ${seconds} s`);
}

function failed(): number {
  return [...failures.values()].reduce((sum, count) => sum + count, 0);
}

/** One run of Vitest on this file; `null`: on all. */
async function test(file: string | null): Promise<void> {
  if (!mayStart()) return;
  const startedAt = performance.now();
  // The leader of a group of its own, which is ended as a whole.
  const child = spawn(process.execPath, [VITEST, "run", "--silent=passed-only", ...(file ? [file] : [])], {
    ...{ cwd: PROJECT, stdio: ["ignore", "pipe", "pipe"], detached: true },
  });
  const id = child.pid as number;
  running.add(id);
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk) => {
      output += chunk;
    });
  const closed = once(child, "close");
  const [code] = await once(child, "exit");
  if (isStopped) return;
  // What a failed test leaves behind would slow down the others, and keep its output open.
  signalGroup(id, "SIGKILL");
  running.delete(id);
  await closed;
  runs += 1;
  if (file) lastMs.set(file, performance.now() - startedAt);
  if (code === 0) return;
  const name = file ?? "the whole suite";
  failures.set(name, (failures.get(name) ?? 0) + 1);
  appendFileSync(LOG, output);
  const reasons = output.split("\n").filter((line) => / FAIL | Error: |Timeout|AssertionError/.test(line));
  console.log(`failed: ${name}\n${reasons.slice(0, 12).join("\n")}`);
}

/** Ends everything that was started, and this process. */
async function end(code: number): Promise<never> {
  await endGroups([...running]);
  await postgres.then(
    (stop) => stop(),
    () => {},
  );
  await endUsersOf(folder);
  rmSync(folder, { recursive: true, force: true });
  console.log(`${runs} of ${suiteRuns + passes * files.length} runs made, ${failed()} of them failed`);
  for (const [name, count] of failures) console.log(`${String(count).padStart(6)} x  ${name}`);
  process.exit(code);
}
