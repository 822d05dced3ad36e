import { relative, resolve } from "node:path";
import { expect, it } from "vitest";
import { referencePages } from "../../script/reference.ts";

const PROJECT = resolve(import.meta.dirname, "../..");

it("has reference pages as they are generated from the code: npm run -s reference", async () => {
  for (const { path, text, expected } of await referencePages()) {
    expect([relative(PROJECT, path), text]).toEqual([relative(PROJECT, path), expected]);
  }
});
