import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runningProcesses } from "../../script/end-processes.ts";
import { cleanedUp } from "../support/cleanup.ts";
import { eventually } from "../support/eventually.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { PROCESS_VARIABLES } from "../support/variables.ts";

const PROJECT = join(import.meta.dirname, "../..");
const SOURCES = ["script", "src", "test/support", "package.json", "plans.config.ts", "vitest.config.ts"];

/** Never ends, has a PostgreSQL of its own, and starts a program that goes on after SIGTERM. */
const TINY_TEST = `
import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { it } from "vitest";
import { startEmbeddedPostgres } from "../src/store/embedded/embedded.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

it("never ends", { timeout: 3_600_000 }, async () => {
  await startEmbeddedPostgres(await temporaryFolder());
  const program = 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1_000); console.log("started");';
  const child = spawn(process.execPath, ["-e", program, "stubborn"]);
  await new Promise((resolve) => child.stdout.once("data", resolve));
  appendFileSync(process.env.STARTED_FILE, process.ppid + " " + child.pid + "\\n");
  await new Promise(() => {});
});
`;

it("starts nothing more once it is stopped, and leaves no process, PostgreSQL or folder behind", {
  timeout: 600_000,
}, async () => {
  const project = await copyProject();
  const temporary = await temporaryFolder();
  const started = join(project, "started");
  const steady = spawn(process.execPath, ["script/steady.ts", "--at-once", "2", "one", "two"], {
    cwd: project,
    env: { ...PROCESS_VARIABLES, TMPDIR: temporary, STARTED_FILE: started },
  });
  let output = "";
  for (const stream of [steady.stdout, steady.stderr])
    stream.on("data", (chunk) => {
      output += chunk;
    });
  const closed = once(steady, "close");
  const startedIds = async () =>
    (await readFile(started, "utf8").catch(() => "")).match(/\d+/g)?.map(Number) ?? [];
  await eventually(async () => steady.exitCode !== null || (await startedIds()).length === 4, true, 300_000);
  const ids = await startedIds();
  const left = async () =>
    (await runningProcesses()).filter(
      ({ id, group, command }) => ids.includes(id) || ids.includes(group) || command.includes(temporary),
    );
  cleanedUp(async () => {
    steady.kill("SIGKILL");
    await Promise.allSettled((await left()).map(async ({ id }) => process.kill(id, "SIGKILL")));
  });
  const commands = (await left()).map(({ command }) => command);
  expect(
    commands.filter((command) => command.includes("stubborn")),
    output,
  ).toHaveLength(2);
  // One for all runs, and one of each run's own.
  expect(commands.filter((command) => command.includes("postgres"))).toHaveLength(3);

  steady.kill("SIGINT");
  // As somebody does who finds it slow.
  steady.kill("SIGTERM");
  expect(await closed).toEqual([130, null]);
  expect(output).toContain("0 of 20 runs made, 0 of them failed");
  expect(await left()).toEqual([]);
  expect(await readdir(temporary)).toEqual([]);
  expect(await startedIds()).toEqual(ids);
});

/** With two files that never end. A copy, as a run in the project would replace its list of failed files. */
async function copyProject(): Promise<string> {
  const project = await temporaryFolder();
  for (const name of SOURCES) await cp(join(PROJECT, name), join(project, name), { recursive: true });
  await symlink(join(PROJECT, "node_modules"), join(project, "node_modules"));
  await mkdir(join(project, "test"), { recursive: true });
  for (const name of ["one", "two"]) await writeFile(join(project, `test/${name}.test.ts`), TINY_TEST);
  return project;
}
