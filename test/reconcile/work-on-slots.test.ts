import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it, vi } from "vitest";
import { STALLED_AFTER_MS } from "../../src/domain/end-when-stalled.ts";
import { workOnSlots } from "../../src/reconcile/work-on-slots.ts";
import { eventually } from "../support/eventually.ts";

it("throws what one slot failed with, once the others have ended their work", async () => {
  const { promise: answer, resolve: give } = Promise.withResolvers<void>();
  const done: string[] = [];
  let hasEnded = false;
  const working = workOnSlots(
    async (slot) => {
      if (slot === "provider-a") throw new Error("the lease is lost");
      if (slot === "provider-c" || done.includes(slot)) return null;
      return async () => {
        await answer;
        done.push(slot);
      };
    },
    () => false,
  ).finally(() => {
    hasEnded = true;
  });
  const failed = expect(working).rejects.toThrow("the lease is lost");
  await nextTurn();
  expect(hasEnded).toBe(false);
  give();
  await failed;
  expect(done).toEqual(["provider-b"]);
});

it("goes on looking in the other slots while one works on what it was looking for when they had nothing", async () => {
  const { promise: found, resolve: find } = Promise.withResolvers<void>();
  const { promise: answer, resolve: give } = Promise.withResolvers<void>();
  const asked = { "provider-a": 0, "provider-b": 0, "provider-c": 0 };
  const { promise: nothing, resolve: findNothing } = Promise.withResolvers<void>();
  const working = workOnSlots(
    async (slot) => {
      asked[slot] += 1;
      if (asked[slot] > 100) throw new Error("asked without a pause");
      if (slot === "provider-c" && asked[slot] === 1) await nothing;
      if (slot !== "provider-a" || asked[slot] !== 2) return null;
      await found;
      return () => answer;
    },
    () => false,
  );
  await eventually(async () => asked["provider-a"], 2);
  findNothing();
  await nextTurn();
  find();
  const before = asked["provider-b"];
  await eventually(async () => asked["provider-b"] > before, true);
  give();
  await working;
  expect(asked["provider-a"]).toBe(3);
});

it("gives up a slot that hangs, however busy another one is", async () => {
  vi.useFakeTimers();
  let isGivenUp = () => false;
  const working = workOnSlots(
    async (slot) => {
      if (slot === "provider-c") return null;
      if (slot === "provider-b") return () => new Promise((resolve) => setTimeout(resolve, 60_000));
      return (isStopping) => {
        isGivenUp = isStopping;
        return new Promise(() => {});
      };
    },
    () => false,
  ).finally(() => vi.useRealTimers());
  const failed = expect(working).rejects.toThrow("given up: nothing has happened for 10 minutes");
  await vi.advanceTimersByTimeAsync(STALLED_AFTER_MS - 1);
  expect(isGivenUp()).toBe(false);
  await vi.advanceTimersByTimeAsync(STALLED_AFTER_MS + 60_000);
  await failed;
  expect(isGivenUp()).toBe(true);
});
