import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { endUsersOf, runningProcesses } from "../../script/end-processes.ts";
import { cleanedUp } from "../support/cleanup.ts";
import { eventually } from "../support/eventually.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { PROCESS_VARIABLES } from "../support/variables.ts";

const SET_UP = join(import.meta.dirname, "../support/postgres.ts");

it.each(["SIGINT", "SIGKILL"] as const)("leaves nothing behind when the tests end by %s", async (signal) => {
  const temporary = await temporaryFolder();
  const program = `import setUp from ${JSON.stringify(SET_UP)}; await setUp(); console.log("set up"); setInterval(() => {}, 1_000);`;
  const tests = spawn(process.execPath, ["--input-type=module", "--eval", program], {
    env: { ...PROCESS_VARIABLES, TMPDIR: temporary },
    stdio: ["ignore", "pipe", "inherit"],
  });
  cleanedUp(() => endUsersOf(temporary));
  const users = async () => (await runningProcesses()).filter(({ command }) => command.includes(temporary));
  const ended = once(tests, "close");
  await Promise.race([once(tests.stdout, "data"), ended]);
  expect(await users()).not.toEqual([]);
  tests.kill(signal);
  expect(await ended).toEqual([null, signal]);
  await eventually(async () => (await users()).length + (await readdir(temporary)).length, 0);
});
