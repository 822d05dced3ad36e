import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";

const PROJECT = resolve(import.meta.dirname, "../..");

/** A project with the settings of the pages, of a text and what reads it. */
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tollgate-check-pages-"));
  for (const name of ["tsconfig.json", "tsconfig.pages.json"])
    await cp(join(PROJECT, name), join(folder, name));
  await symlink(join(PROJECT, "node_modules"), join(folder, "node_modules"));
  await mkdir(join(folder, "src/app"), { recursive: true });
  const code =
    'import type texts from "./texts.json";\nexport const read = (all: typeof texts): string => all.title;\n';
  await writeFile(join(folder, "src/app/read.ts"), code);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** What `tsc` says once the texts are these. */
async function check(texts: Record<string, string>): Promise<string> {
  await writeFile(join(folder, "src/app/texts.json"), JSON.stringify(texts));
  const tsc = join(PROJECT, "node_modules/.bin/tsc");
  return new Promise((done) =>
    execFile(tsc, ["-p", "tsconfig.pages.json"], { cwd: folder }, (_, stdout) => done(stdout)),
  );
}

it("the type checker sees that a page's text is missing, and that it has been added", async () => {
  const missing = expect.stringContaining("Property 'title' does not exist");
  expect(await check({})).toEqual(missing);
  expect(await check({ title: "Seats" })).toBe("");
  expect(await check({})).toEqual(missing);
}, 60_000);
