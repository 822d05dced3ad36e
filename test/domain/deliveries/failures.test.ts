import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { FAILURE_REASONS } from "../../../src/domain/deliveries/failures.ts";
import { LOCALES } from "../../../src/domain/locale.ts";

it("documents every reason for which an attempt can fail", async () => {
  const page = await readFile(new URL("../../../docs/reference/errors.md", import.meta.url), "utf8");
  const rows = page.slice(page.indexOf("## Failed deliveries")).matchAll(/^\| `(\w+)` \|/gm);
  expect([...rows].map(([, reason]) => reason)).toEqual(FAILURE_REASONS);
});

it.each(LOCALES)("has a short and a long text for every reason in %s", async (locale) => {
  const file = new URL(`../../../src/messages/${locale}/failures.json`, import.meta.url);
  const { short, long } = JSON.parse(await readFile(file, "utf8"));
  expect([Object.keys(short), Object.keys(long)]).toEqual([FAILURE_REASONS, FAILURE_REASONS]);
});
