import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { release } from "../../script/release.ts";

const read = (path: string) => readFileSync(resolve(import.meta.dirname, "../..", path), "utf8");
const packages = [read("package.json"), read("package-lock.json")];
const { version } = JSON.parse(packages[0] as string);

describe("this release", () => {
  it("has the first section of the changelog", () => {
    const [first] = read("CHANGELOG.md").match(/^## .+$/m) ?? [];
    expect(first).toMatch(
      new RegExp(`^## ${version.replaceAll(".", "\\.")} \\((unreleased|\\d{4}-\\d\\d-\\d\\d)\\)$`),
    );
  });

  it("has upgrade notes, as has every version of the changelog", () => {
    const versions = [...read("CHANGELOG.md").matchAll(/^## (\S+) /gm)].map(([, name]) => name);
    const notes = [...read("docs/how-to/upgrade.md").matchAll(/^## (\S+)$/gm)].map(([, name]) => name);
    expect(notes).toEqual(versions);
  });
});

describe("release", () => {
  const next = "9.8.7";
  const date = "2031-02-03";
  const changelog = `# Changelog\n\n## ${next} (unreleased)\n\n- New.\n`;
  const upgrade = `# Upgrade\n\n## ${next}\n\nNothing to do.\n`;

  it("dates the changelog's section and sets the version of both package files", () => {
    const released = release({ changelog, upgrade, packages }, { version: next, date });
    expect(released.changelog).toContain(`## ${next} (${date})\n\n- New.`);
    for (const [index, text] of released.packages.entries()) {
      const { packages: lock, ...before } = JSON.parse(packages[index] as string);
      const after = JSON.parse(text);
      expect(after).toMatchObject({ ...before, version: next });
      if (lock) expect(after.packages).toEqual({ ...lock, "": { ...lock[""], version: next } });
    }
  });

  it.each([
    ["an invalid version", { changelog, upgrade }, "1.0", "is not a version"],
    [
      "a version without changes",
      { changelog: "# Changelog\n", upgrade },
      next,
      "CHANGELOG.md has no section",
    ],
    [
      "a version without upgrade notes",
      { changelog, upgrade: "# Upgrade\n" },
      next,
      "upgrade.md has no section",
    ],
  ])("refuses %s", (_, files, version, message) => {
    expect(() => release({ ...files, packages }, { version: version, date })).toThrow(message);
  });
});
