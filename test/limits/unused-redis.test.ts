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

it.each(["src/server.ts", "src/cli/tollgate.ts", "src/limits/redis-client.ts"])(
  "%s loads Redis's client only where it is used",
  async (entry) => {
    const program = `${PRINT_MODULES}\nawait import(${JSON.stringify(resolve(PROJECT, entry))});`;
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ["--input-type=module", "--eval", program],
      { cwd: PROJECT, env: PROCESS_VARIABLES, maxBuffer: 2 ** 24 },
    );
    const loaded = stdout.split("\n").filter((url) => url.includes("/node_modules/@redis/"));
    expect(stdout).toContain(resolve(PROJECT, entry));
    expect(loaded.length > 0).toBe(entry === "src/limits/redis-client.ts");
  },
);
