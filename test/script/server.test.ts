import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdir, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { expect, it } from "vitest";
import { cleanedUp } from "../support/cleanup.ts";
import { freshDatabase } from "../support/database.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { PROCESS_VARIABLES, serverVariables } from "../support/variables.ts";

const PROJECT = resolve(import.meta.dirname, "../..");

it.each([
  ["stops when its terminal is closed", "", ["SIGHUP"]],
  ["outlives its terminal where nohup has started it", "trap '' HUP;", ["SIGHUP", "SIGTERM"]],
] as const)("%s", async (_, nohup, signals) => {
  const test = await freshDatabase(0);
  const child = spawn("/bin/bash", ["-c", `${nohup} exec script/server`], {
    cwd: await installedAndBuilt(),
    env: { ...PROCESS_VARIABLES, ...serverVariables(test.url), LOG_LEVEL: "info" },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const kill = cleanedUp(async () => child.kill("SIGKILL"));
  const ended = once(child, "exit");
  let signal: unknown;
  for await (const line of createInterface({ input: child.stdout })) {
    const entry = JSON.parse(line);
    if (entry.msg === "stopping") signal ??= entry.signal;
    if (entry.msg !== "listening") continue;
    for (const each of signals) child.kill(each);
  }
  expect(await ended).toEqual([0, null]);
  expect(signal).toBe(signals.at(-1));
  await kill();
  await test.drop();
});

/** A project in which `script/server` has nothing to install or build. */
async function installedAndBuilt(): Promise<string> {
  const folder = await temporaryFolder();
  await mkdir(join(folder, "script"));
  await copyFile(join(PROJECT, "script/server"), join(folder, "script/server"));
  await symlink(join(PROJECT, "src"), join(folder, "src"));
  await writeFile(join(folder, "script/set-up"), `export PATH="${join(process.execPath, "..")}:$PATH"\n`);
  await writeFile(join(folder, "script/build-pages"), "#!/bin/sh\n", { mode: 0o755 });
  return folder;
}
