import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "..");
const document = await readFile(join(ROOT, "SECURITY.md"), "utf8");
const tests = [...new Set(document.match(/`[\w/-]+\.test\.ts`/g))].map((name) => name.slice(1, -1));

describe("SECURITY.md", () => {
  it.each(tests)("names a test that exists: %s", async (name) => {
    expect((await stat(join(ROOT, name))).isFile()).toBe(true);
  });

  it("names a test for every threat", () => {
    const [, table = ""] = /\n\| threat[^\n]*\n\|[-| ]+\n((?:\|[^\n]+\n)+)/i.exec(document) ?? [];
    const rows = table.trim().split("\n");
    expect(rows.length).toBeGreaterThanOrEqual(12);
    for (const row of rows) expect(row).toMatch(/\.test\.ts`/);
  });
});
