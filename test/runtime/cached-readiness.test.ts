import { expect, it } from "vitest";
import { cachedReadiness } from "../../src/runtime/cached-readiness.ts";

it("checks readiness once a second for any number of requests, and does not cache a failure", async () => {
  let calls = 0;
  let ms = 0;
  let isReady = true;
  const cached = cachedReadiness(
    async () => {
      calls += 1;
      return isReady;
    },
    () => ms,
  );
  expect(await Promise.all(Array.from({ length: 50 }, cached))).toEqual(Array(50).fill(true));
  isReady = false;
  ms = 999;
  expect([await cached(), calls]).toEqual([true, 1]);
  ms = 1_000;
  expect([...(await Promise.all([cached(), cached()])), calls]).toEqual([false, false, 2]);
  isReady = true;
  expect([await cached(), calls]).toEqual([true, 3]);
});
