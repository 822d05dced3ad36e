import { relative, resolve } from "node:path";
import { expect, it } from "vitest";
import { referencePages } from "../../script/reference.ts";

const PROJECT = resolve(import.meta.dirname, "../..");

it("has the help of every command in command-line.md", async () => {
  const pages = await referencePages();
  const page = pages.find(({ path }) => path.endsWith("/command-line.md"));
  expect(page?.text).toContain("Usage: tollgate webhooks verify [options]");
});

it("has reference pages as they are generated from the code: npm run -s reference", async () => {
  for (const { path, text, expected } of await referencePages()) {
    expect([relative(PROJECT, path), text]).toEqual([relative(PROJECT, path), expected]);
  }
});
