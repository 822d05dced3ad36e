import { expect, it } from "vitest";
import type { ReceivedOutcome } from "../../../src/intake/incoming-event.ts";
import { createInProcess } from "../../../src/intake/queue/in-process.ts";

/** An event that is being worked on until `finish` is called. */
function underWay() {
  const inProcess = createInProcess();
  const { promise, resolve: finish, reject: fail } = Promise.withResolvers<ReceivedOutcome>();
  let isAwaited = () => false;
  let starts = 0;
  const share = () =>
    inProcess.share("key", (awaited) => {
      isAwaited = awaited;
      starts += 1;
      return promise;
    });
  return { share, finish, fail, isAwaited: () => isAwaited(), starts: () => starts };
}

it.each<[ReceivedOutcome, ReceivedOutcome]>([
  [{ outcome: "applied" }, { outcome: "duplicate" }],
  [{ outcome: "ignored" }, { outcome: "duplicate" }],
  [{ outcome: "duplicate" }, { outcome: "duplicate" }],
  [
    { outcome: "failed", deliveryId: "7" },
    { outcome: "failed", deliveryId: "7" },
  ],
  [{ outcome: "unavailable" }, { outcome: "unavailable" }],
])("works on copies once, and answers %j to the first and %j to the others", async (first, copy) => {
  const { share, finish, starts } = underWay();
  const results = [share(), share(), share()].map(({ result }) => result);
  finish(first);
  expect(await Promise.all(results)).toEqual([first, copy, copy]);
  expect(starts()).toBe(1);
});

it("is awaited until the sender of the last copy has stopped waiting", async () => {
  const { share, isAwaited } = underWay();
  const first = share();
  const copy = share();
  first.stopWaiting();
  expect(isAwaited()).toBe(true);
  copy.stopWaiting();
  expect(isAwaited()).toBe(false);
  // It has not been given up yet: somebody waits again.
  share();
  expect(isAwaited()).toBe(true);
});

it("works on an event again once the first work has ended, also by an error", async () => {
  for (const end of ["finish", "fail"] as const) {
    const work = underWay();
    const { result } = work.share();
    work[end]({ outcome: "applied" });
    await result.catch(() => {});
    work.share().result.catch(() => {});
    expect(work.starts()).toBe(2);
  }
});
