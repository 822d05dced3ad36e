import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";

const PROJECT = resolve(import.meta.dirname, "../..");
const run = promisify(execFile);

async function compiledIn(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  return names.filter((name) => !name.endsWith(".json"));
}

it.each(["server", "tollgate"])("npm run %s keeps its compiled modules beside the packages", async (name) => {
  const { scripts } = JSON.parse(await readFile(join(PROJECT, "package.json"), "utf8"));
  const [settings, program] = scripts[name].split(/ (?=node )/);
  expect(program).toMatch(/^node src\//);
  const valueWith = async (env: Record<string, string>) => {
    const printed = await run("/bin/sh", ["-c", `${settings} sh -c 'echo $NODE_COMPILE_CACHE'`], { env });
    return printed.stdout.trim();
  };
  expect(await valueWith({})).toBe("node_modules/.cache/node");
  expect(await valueWith({ NODE_COMPILE_CACHE: "/var/cache/tollgate" })).toBe("/var/cache/tollgate");
});

it("the image is built with the modules of the server and the command line compiled", async () => {
  const containerfile = await readFile(join(PROJECT, "Containerfile"), "utf8");
  const [, command = ""] = /^RUN (node .*)$/m.exec(containerfile) ?? [];
  const folder = await temporaryFolder();
  const env = { PATH: process.env.PATH, NODE_COMPILE_CACHE: folder };
  await run("/bin/sh", ["-c", command.replaceAll("/app/", `${PROJECT}/`)], { env });
  expect((await compiledIn(folder)).length).toBeGreaterThan(500);
  expect(containerfile.indexOf(command)).toBeGreaterThan(containerfile.indexOf("USER node"));
});
