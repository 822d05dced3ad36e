import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { PROCESS_VARIABLES } from "../support/variables.ts";

const PROJECT = resolve(import.meta.dirname, "../..");

/** Prints a line for each module that the program loads. */
const PRINT_MODULES = `
import { registerHooks } from "node:module";
registerHooks({
  load(url, context, next) {
    console.log(url);
    return next(url, context);
  },
});`;

function run(program: string) {
  const args = ["--input-type=module", "--eval", program];
  const options = { cwd: PROJECT, env: PROCESS_VARIABLES, maxBuffer: 2 ** 24 };
  return promisify(execFile)(process.execPath, args, options);
}

it.each(["src/server.ts", "src/cli/tollgate.ts", "src/limits/redis-client.ts"])(
  "%s loads Redis's client only where it is used",
  async (entry) => {
    const program = `${PRINT_MODULES}\nawait import(${JSON.stringify(resolve(PROJECT, entry))});`;
    const { stdout } = await run(program);
    const loaded = stdout.split("\n").filter((url) => url.includes("/node_modules/@redis/"));
    expect(stdout).toContain(resolve(PROJECT, entry));
    expect(loaded.length > 0).toBe(entry === "src/limits/redis-client.ts");
  },
);

it("counts the time for a connection from when Redis's client is loaded", async () => {
  const program = `
import { registerHooks } from "node:module";
let loadedAt = 0;
registerHooks({
  load(url, context, next) {
    if (url.endsWith("/@redis/client/dist/lib/cluster/index.js")) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500);
      loadedAt = performance.now();
    }
    return next(url, context);
  },
});
const { createRateLimit } = await import(${JSON.stringify(resolve(PROJECT, "src/limits/create-rate-limit.ts"))});
const log = { info() {}, warn() {}, error() {} };
await createRateLimit({ redisUrls: ["redis://127.0.0.1:1"], log });
console.log(performance.now() - loadedAt);
process.exit();`;
  const { stdout } = await run(program);
  // Nothing listens there, so that the start waits as long as it may.
  expect(Number(stdout)).toBeGreaterThan(990);
});
