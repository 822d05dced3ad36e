import { execFile, spawn } from "node:child_process";
import { cp, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { beforeAll, expect, it } from "vitest";
import { cleanedUp } from "../../support/cleanup.ts";
import { sendRequest } from "../../support/http.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { testDatabase } from "../../support/test-database.ts";
import { serverVariables } from "../../support/variables.ts";

const ROOT = join(import.meta.dirname, "../../..");
const MODULE = join(ROOT, "src/api/graphql");

const test = testDatabase(1);
let folder: string;

beforeAll(async () => {
  folder = await temporaryFolder();
  const ownFiles = (await readdir(ROOT)).filter((name) =>
    /^(?!vitest).*\.ts$|^package\.json$|^tsconfig\.json$/.test(name),
  );
  for (const name of ["src", ...ownFiles]) {
    await cp(join(ROOT, name), join(folder, name), {
      recursive: true,
      filter: (source) => source !== MODULE,
    });
  }
  await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"));
});

it("GraphQL can be removed with its folder and one line", async () => {
  const app = join(folder, "src/api/app.ts");
  const lines = (await readFile(app, "utf8")).split("\n");
  const remainingLines = lines.filter((line) => !/"\.\/graphql\/graphql\.ts"|\bgraphql\(/.test(line));
  expect(lines.length - remainingLines.length).toBe(2);
  await writeFile(app, remainingLines.join("\n"));

  const { stdout } = await promisify(execFile)(process.execPath, [
    join(ROOT, "node_modules/typescript/bin/tsc"),
    "-p",
    folder,
    // Imports used only by the removed lines are left for the person who removes it.
    "--noUnusedLocals",
    "false",
    "--noUnusedParameters",
    "false",
  ]).catch((failure) => failure as { stdout: string });
  expect(stdout.split("\n").filter(Boolean)).toEqual([]);

  const url = await served();
  const response = await sendRequest(url, "POST", "/api/graphql", { body: { query: "{ __typename }" } });
  expect(response.status).toBe(404);
  expect((await sendRequest(url, "GET", "/api/plans")).status).toBe(200);
}, 180_000);

function served(): Promise<string> {
  const child = spawn(process.execPath, ["src/server.ts"], {
    cwd: folder,
    env: { PATH: process.env.PATH, ...serverVariables(test.url), LOG_LEVEL: "info" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  cleanedUp(async () => void child.kill("SIGKILL"));
  return new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      const url = /"url":"([^"]+)"/.exec(line)?.[1];
      if (url) resolve(url);
    });
    child.once("exit", (code) => reject(new Error(`the server ended with ${code}`)));
  });
}
