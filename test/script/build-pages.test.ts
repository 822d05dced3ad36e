import { execFile } from "node:child_process";
import { chmod, copyFile, mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";

const SCRIPT = resolve(import.meta.dirname, "../../script/build-pages");

it("says what to do when npm has not installed Node, and the system's is too old", async () => {
  const folder = await temporaryFolder();
  await mkdir(join(folder, "script"));
  await copyFile(SCRIPT, join(folder, "script/build-pages"));
  await mkdir(join(folder, "bin"));
  // An old Node: it is asked for its version alone.
  await writeFile(join(folder, "bin/node"), "#!/bin/sh\nexit 1\n");
  await chmod(join(folder, "bin/node"), 0o755);
  const env = { PATH: `${folder}/bin:/usr/bin:/bin` };
  await expect(promisify(execFile)(join(folder, "script/build-pages"), { env })).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^Node 24 or later is needed.*npm rebuild --ignore-scripts=false\n$/),
  });
});
