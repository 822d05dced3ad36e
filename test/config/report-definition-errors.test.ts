import { spawn } from "node:child_process";
import { cp, readFile, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { beforeAll, expect, it } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { PROCESS_VARIABLES } from "../support/variables.ts";

const PROJECT = resolve(import.meta.dirname, "../..");
const MISTAKE = "plans.config.ts: pro.graceDays: Too big: expected number to be <=90\n";

let copy: string;
beforeAll(async () => {
  copy = await temporaryFolder();
  for (const name of ["src", "package.json", "plans.config.ts", "versions.config.ts"])
    await cp(join(PROJECT, name), join(copy, name), { recursive: true });
  await symlink(join(PROJECT, "node_modules"), join(copy, "node_modules"));
});

/** What the program prints where the plans file has been changed. */
async function run(change: (plans: string) => string, ...args: string[]) {
  const plans = await readFile(join(PROJECT, "plans.config.ts"), "utf8");
  await writeFile(join(copy, "plans.config.ts"), change(plans));
  const child = spawn(process.execPath, args, {
    cwd: copy,
    env: { ...PROCESS_VARIABLES, DATA_DIR: join(copy, ".data") },
  });
  const [stdout, stderr, status] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise((ends) => child.on("close", ends)),
  ]);
  return { stdout, stderr, status };
}

const tooLong = (plans: string) => plans.replace("graceDays: 7", "graceDays: 700");

it.each([["src/server.ts"], ["src/cli/tollgate.ts", "doctor"]])(
  "%s prints a mistake in plans.config.ts and nothing else",
  async (...args) => {
    expect(await run(tooLong, ...args)).toEqual({ stdout: "", stderr: MISTAKE, status: 1 });
  },
);

it("prints it alone, too, where the file awaits something first", async () => {
  const awaiting = (plans: string) =>
    `await new Promise((passed) => setTimeout(passed, 300));\n${tooLong(plans)}`;
  expect(await run(awaiting, "src/server.ts")).toEqual({ stdout: "", stderr: MISTAKE, status: 1 });
});

it("prints it as JSON, too, where a command has been asked for JSON", async () => {
  const { stdout, status } = await run(tooLong, "src/cli/tollgate.ts", "doctor", "--json");
  expect([JSON.parse(stdout), status]).toEqual([{ error: MISTAKE.trimEnd() }, 1]);
});

it.each([
  [
    "an error of its own",
    (plans: string) => `${plans}\nthrow new Error("PRICES is not set");\n`,
    /plans\.config\.ts:\d+\n.*Error: PRICES is not set/s,
  ],
  ["a syntax error", (plans: string) => plans.replace("definePlans([", "definePlans(]"), /SyntaxError/],
])("leaves %s in plans.config.ts to Node", async (_name, change, printed) => {
  expect(await run(change, "src/server.ts")).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(printed),
  });
});
