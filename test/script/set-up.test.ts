import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";

const SET_UP = resolve(import.meta.dirname, "../../script/set-up");

it("installs the packages of the tests too, which npm leaves out with NODE_ENV=production", async () => {
  const folder = await temporaryFolder();
  await mkdir(join(folder, "bin"));
  await mkdir(join(folder, "node_modules"));
  for (const file of ["package.json", "package-lock.json"]) await writeFile(join(folder, file), "{}");
  await writeFile(join(folder, "bin/npm"), '#!/bin/sh\necho "$*" >>installs\n', { mode: 0o755 });
  const env = { PATH: `${folder}/bin:/usr/bin:/bin`, NODE_ENV: "production" };
  const setUp = () => promisify(execFile)("/bin/bash", ["-c", `. ${SET_UP}`], { env, cwd: folder });
  await setUp();
  await setUp();
  expect(await readFile(join(folder, "installs"), "utf8")).toMatch(/^install .*--include=dev.*\n$/);
});
