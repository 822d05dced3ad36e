import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";

const PROJECT = resolve(import.meta.dirname, "..");
const CHANGELOG = resolve(PROJECT, "CHANGELOG.md");
const UPGRADE = resolve(PROJECT, "docs/how-to/upgrade.md");
const VERSION = /^\d+\.\d+\.\d+$/;

export type ReleaseFiles = { changelog: string; upgrade: string; packages: string[] };

/**
 * The files of a release: the changelog's unreleased section gets the date, and the packages the version.
 * @param packages texts of package.json and package-lock.json
 * @throws Error for a version that is not ready
 */
export function release(
  { changelog, upgrade, packages }: ReleaseFiles,
  { version, date }: { version: string; date: string },
): Omit<ReleaseFiles, "upgrade"> {
  if (!VERSION.test(version)) throw new Error(`"${version}" is not a version, e.g. 0.2.0`);
  const heading = `## ${version} (unreleased)`;
  if (!changelog.split("\n").includes(heading)) throw new Error(`CHANGELOG.md has no section "${heading}"`);
  if (!upgrade.split("\n").includes(`## ${version}`)) {
    throw new Error(
      `docs/how-to/upgrade.md has no section "## ${version}": say what to do, or that there is nothing`,
    );
  }
  return {
    changelog: changelog.replace(heading, `## ${version} (${date})`),
    packages: packages.map((text) => withVersion(text, version)),
  };
}

/** In package-lock.json, the root package has it a second time. */
function withVersion(text: string, version: string): string {
  const content = JSON.parse(text);
  content.version = version;
  if (content.packages?.[""]) content.packages[""].version = version;
  return `${JSON.stringify(content, null, 2)}\n`;
}

function main(version = ""): void {
  const paths = ["package.json", "package-lock.json"].map((name) => resolve(PROJECT, name));
  const read = (path: string) => readFileSync(path, "utf8");
  const files = { changelog: read(CHANGELOG), upgrade: read(UPGRADE), packages: paths.map(read) };
  const released = release(files, { version, date: new Date().toISOString().slice(0, 10) });
  writeFileSync(CHANGELOG, released.changelog);
  for (const [index, path] of paths.entries()) writeFileSync(path, released.packages[index] as string);
  process.stdout.write(
    `Commit these, run script/test and script/proof upgrade, then tag: git tag v${version}\n`,
  );
}

if (import.meta.main) {
  try {
    main(process.argv[2]);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\nUsage: npm run -s release <version>\n`);
    process.exit(2);
  }
}
