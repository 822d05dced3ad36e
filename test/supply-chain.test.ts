import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { temporaryFolder } from "./support/temporary-folder.ts";

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "..");
const { dependencies, devDependencies } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
// No test depends on a registry.
const OFFLINE = { env: { ...process.env, npm_config_offline: "true" }, maxBuffer: 64 * 1024 * 1024 };

it("has packages with allowed licences only", async () => {
  const { stdout } = await run(process.execPath, [join(ROOT, "script/licences.ts")]);
  expect(stdout).toMatch(/\bMIT\b/);
});

it("reports advisories without failing, as they appear by date", async () => {
  const folder = await temporaryFolder();
  const npm = join(folder, "npm");
  const script =
    'if [ "$1" = audit ]; then echo "1 critical severity vulnerability"; exit 1; fi; PATH=$(echo "$PATH" | cut -d: -f2-) exec npm "$@"';
  await writeFile(npm, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const env = { ...process.env, PATH: `${folder}:${process.env.PATH}` };
  const { stdout } = await run(join(ROOT, "script/audit"), { env });
  expect(stdout).toMatch(/1 critical severity vulnerability[\s\S]*Licences:[\s\S]*\bMIT\b/);
});

it("prints a CycloneDX document of the production packages", async () => {
  const { stdout } = await run(join(ROOT, "script/sbom"), OFFLINE);
  const { bomFormat, components } = JSON.parse(stdout) as {
    bomFormat: string;
    components: { purl: string }[];
  };
  expect(bomFormat).toBe("CycloneDX");
  const packages = components.map(({ purl }) => decodeURIComponent(purl));
  const expectedComponents = Object.entries(dependencies).map(
    ([name, version]) => `pkg:npm/${name}@${version}`,
  );
  expect(packages).toEqual(expect.arrayContaining(expectedComponents));
  expect(packages.filter((name) => name.startsWith("pkg:npm/@biomejs/biome@"))).toEqual([]);
  expect(Object.keys(devDependencies)).toContain("@biomejs/biome");
});

it("locks the packages of every platform, not only of the one where the lock file was written", async () => {
  const lock = JSON.parse(await readFile(join(ROOT, "package-lock.json"), "utf8"));
  const packages: Record<string, { optionalDependencies?: Record<string, string> }> = lock.packages;
  const paths = Object.keys(packages).filter((path) => path !== "");
  const missing = paths.flatMap((path) =>
    Object.keys(packages[path]?.optionalDependencies ?? {}).filter(
      (name) => !parentsOf(path).some((parent) => `${parent}node_modules/${name}` in packages),
    ),
  );
  expect(missing).toEqual([]);
});

/** The folders in whose `node_modules` Node looks for what the package at this path imports. */
function parentsOf(path: string): string[] {
  const parts = `${path}/`.split("node_modules/");
  return parts.map((_, index) => parts.slice(0, index + 1).join("node_modules/"));
}
