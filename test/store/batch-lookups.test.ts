import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { batchLookups } from "../../src/store/batch-lookups.ts";

it("answers lookups that had to wait for two others, though none follows them", async () => {
  const queries: { keys: string[]; end(): void }[] = [];
  const find = batchLookups<string>(async (keys) => {
    await new Promise<void>((end) => queries.push({ keys, end }));
    return new Map(keys.map((key) => [key, `found ${key}`]));
  });
  const found: Promise<string | undefined>[] = [];
  for (const key of ["a", "b", "c"]) {
    found.push(find(key));
    await nextTurn();
    await nextTurn();
  }
  expect(queries.map(({ keys }) => keys)).toEqual([["a"], ["b"]]);
  queries[0]?.end();
  await expect.poll(() => queries.length, { timeout: 30_000 }).toBe(3);
  for (const { end } of queries) end();
  expect(await Promise.all(found)).toEqual(["found a", "found b", "found c"]);
});

it("fails every lookup of a query that fails, also those of the same key", async () => {
  const find = batchLookups<string>(async () => {
    throw new Error("away");
  });
  const outcomes = await Promise.allSettled([find("a"), find("a"), find("b")]);
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
});
