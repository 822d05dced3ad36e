import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "..");
const { dependencies, devDependencies } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
// No test depends on a registry.
const OFFLINE = { env: { ...process.env, npm_config_offline: "true" }, maxBuffer: 64 * 1024 * 1024 };

it("has packages with allowed licences only", async () => {
  const { stdout } = await run(process.execPath, [join(ROOT, "script/licences.ts")]);
  expect(stdout).toMatch(/\bMIT\b/);
});

it("prints a CycloneDX document of the production packages", async () => {
  const { stdout } = await run(join(ROOT, "script/sbom"), OFFLINE);
  const { bomFormat, components } = JSON.parse(stdout) as {
    bomFormat: string;
    components: { purl: string }[];
  };
  expect(bomFormat).toBe("CycloneDX");
  const packages = components.map(({ purl }) => decodeURIComponent(purl));
  const wanted = Object.entries(dependencies).map(([name, version]) => `pkg:npm/${name}@${version}`);
  expect(packages).toEqual(expect.arrayContaining(wanted));
  expect(packages.filter((one) => one.startsWith("pkg:npm/@biomejs/biome@"))).toEqual([]);
  expect(Object.keys(devDependencies)).toContain("@biomejs/biome");
});
