import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { workOnSlots } from "../../src/reconcile/work-on-slots.ts";

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
