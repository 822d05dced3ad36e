import { type ChildProcess, spawn } from "node:child_process";
import { appendFileSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import { serverTests } from "./server-tests.ts";

const USAGE = `script/steady             the whole suite three times beside a busy loop, then each file that starts
                          servers ten times beside two
script/steady FILE ...    these files ten times beside two busy loops
  --suite N               run the whole suite N times instead of three
  --times N               run each file N times instead of ten
  --at-once N             run N files at the same time: quicker, and each has busier neighbours than the loops
Stop it with Ctrl+C or SIGTERM. What failed is printed, and written whole to test-results/steady.log.`;

const PROJECT = join(import.meta.dirname, "..");
const LOG = join(PROJECT, "test-results/steady.log");

const { values, positionals } = parseArgs({
  options: {
    suite: { type: "string", default: "3" },
    times: { type: "string", default: "10" },
    "at-once": { type: "string", default: "1" },
    help: { type: "boolean", default: false },
  },
  allowPositionals: true,
});
if (values.help) {
  console.log(USAGE);
  process.exit();
}

const running = new Set<ChildProcess>();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    for (const child of running) child.kill(signal);
    process.exit(130);
  });
}

mkdirSync(join(PROJECT, "test-results"), { recursive: true });
rmSync(LOG, { force: true });
let passed = 0;
let failed = 0;
startBusyLoop();
if (positionals.length === 0) {
  for (let run = 0; run < positive("suite"); run += 1) await test([]);
}
startBusyLoop();
const files = positionals.length > 0 ? positionals : serverTests(PROJECT);
// Pass by pass, so that a file never runs beside itself.
const queue = Array.from({ length: positive("times") }, () => files).flat();
const atOnce = Math.min(positive("at-once"), files.length);
await Promise.all(
  Array.from({ length: atOnce }, async () => {
    for (let file = queue.shift(); file; file = queue.shift()) {
      await test([file]);
      if ((passed + failed) % files.length === 0) report();
    }
  }),
);
if ((passed + failed) % files.length > 0) report();
process.exit(failed === 0 && passed > 0 ? 0 : 1);

function positive(option: "suite" | "times" | "at-once"): number {
  const number = Number(values[option]);
  if (Number.isInteger(number) && number > 0) return number;
  console.error(`--${option}: "${values[option]}" is not a whole number above 0`);
  process.exit(2);
}

function report(): void {
  console.log(`${new Date().toISOString()} ${passed} runs passed, ${failed} failed`);
}

function startBusyLoop(): void {
  new Worker("for (;;);", { eval: true }).unref();
}

/** One run of Vitest on these files, or on all. */
async function test(names: readonly string[]): Promise<void> {
  const child = spawn("vitest", ["run", "--silent=passed-only", ...names], {
    cwd: PROJECT,
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.add(child);
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk) => {
      output += chunk;
    });
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  running.delete(child);
  if (code === 0) {
    passed += 1;
    return;
  }
  failed += 1;
  appendFileSync(LOG, output);
  const reasons = output.split("\n").filter((line) => / FAIL | Error: |Timeout|AssertionError/.test(line));
  console.log(`failed: ${names.join(" ") || "the whole suite"}\n${reasons.slice(0, 12).join("\n")}`);
}
