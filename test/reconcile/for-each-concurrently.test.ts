import { expect, it } from "vitest";
import { forEachConcurrently } from "../../src/reconcile/for-each-concurrently.ts";

it("fails with what a visit fails with while the next item is being fetched", async () => {
  const { promise: failed, resolve: fail } = Promise.withResolvers<void>();
  const visited: number[] = [];
  async function* items() {
    yield 1;
    // Until the failure has been left unhandled for a turn of the event loop, as a request of a page takes many.
    await failed;
    await new Promise((next) => setTimeout(next, 20));
    yield 2;
    yield 3;
  }
  const visiting = forEachConcurrently(items(), async (item) => {
    visited.push(item);
    fail();
    throw new Error("not reachable");
  });
  await expect(visiting).rejects.toThrow("not reachable");
  expect(visited).toEqual([1]);
});

it("ends the visits under way before it fails", async () => {
  const ended: number[] = [];
  const visiting = forEachConcurrently([1, 2, 3], async (item) => {
    if (item === 2) throw new Error("not reachable");
    await new Promise((next) => setTimeout(next, 20));
    ended.push(item);
  });
  await expect(visiting).rejects.toThrow("not reachable");
  expect(ended).toContain(1);
});

it("visits all, 16 at a time", async () => {
  let underWay = 0;
  let most = 0;
  const visited: number[] = [];
  await forEachConcurrently(Array(50).keys(), async (item) => {
    underWay += 1;
    most = Math.max(most, underWay);
    await new Promise(setImmediate);
    underWay -= 1;
    visited.push(item);
  });
  expect(visited.toSorted((a, b) => a - b)).toEqual([...Array(50).keys()]);
  expect(most).toBe(16);
});
