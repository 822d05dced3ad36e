import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { Breaker } from "../../src/limits/breaker.ts";
import { Deadlines } from "../../src/limits/deadlines.ts";
import { NO_METRICS } from "../../src/limits/limiter.ts";
import { NodeBreakers } from "../../src/limits/node-breakers.ts";
import { eventually } from "../support/eventually.ts";

describe("Deadlines", () => {
  it("calls back only for operations that are late", async () => {
    const deadlines = new Deadlines(30);
    const late: number[] = [];
    const arrived = Array.from({ length: 10 }, (_, n) => deadlines.start(() => late.push(n)));
    expect(arrived.filter((_, n) => n % 2 === 0).every((arrive) => arrive())).toBe(true);
    await eventually(async () => late, [1, 3, 5, 7, 9]);
    expect(arrived.some((arrive) => arrive())).toBe(false);
    deadlines.close();
  });

  it("calls back as soon as the time is over where this process was not busy", async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const deadlines = new Deadlines(100);
    const onLate = vi.fn();
    deadlines.start(onLate);
    await vi.advanceTimersByTimeAsync(99);
    expect(onLate).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(2);
    expect(onLate).toHaveBeenCalledOnce();
  });

  it("does not expire while this process itself is busy", async () => {
    const deadlines = new Deadlines(1_000);
    let isLate = false;
    const arrived = deadlines.start(() => {
      isLate = true;
    });
    const busyUntil = performance.now() + 1_200;
    while (performance.now() < busyUntil);
    // The timer, which is due, and then what it puts off until replies have been read.
    await sleep(1);
    await new Promise((resolve) => setImmediate(resolve));
    expect(isLate).toBe(false);
    expect(arrived()).toBe(true);
    deadlines.close();
  });

  it("calls back also for what starts once all others have expired or settled", async () => {
    const deadlines = new Deadlines(20);
    const late: string[] = [];
    deadlines.start(() => late.push("first"));
    await eventually(async () => late, ["first"]);
    deadlines.start(() => late.push("settled"))();
    deadlines.start(() => late.push("second"));
    await eventually(async () => late, ["first", "second"]);
    deadlines.close();
  });
});

it("keeps no reference to the callback of a finished deadline", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const deadlines = new Deadlines(60_000);
  const startAndFinish = () => {
    const late = { called: false };
    deadlines.start(() => {
      late.called = true;
    })();
    return new WeakRef(late);
  };
  const waits = Array.from({ length: 1_000 }, startAndFinish);
  // A WeakRef's target is kept until the current task has ended.
  await new Promise((resolve) => setImmediate(resolve));
  collect();
  expect(waits.filter((wait) => wait.deref() !== undefined)).toEqual([]);
  deadlines.close();
});

describe("Breaker", () => {
  const tripped = () => {
    let now = 0;
    const changes: boolean[] = [];
    const breaker = new Breaker({ now: () => now, onChange: (up) => changes.push(up) });
    const advance = (ms: number) => {
      now += ms;
    };
    for (let n = 0; n < 5; n += 1) breaker.failed("yes", new Error("down"));
    return { breaker, changes, advance };
  };

  it("opens after five failures in a row, and not after scattered ones", () => {
    const changes: boolean[] = [];
    const breaker = new Breaker({ now: () => 0, onChange: (up) => changes.push(up) });
    for (let n = 0; n < 100; n += 1) {
      breaker.failed("yes", new Error("down"));
      if (n % 4 === 3) breaker.succeeded();
    }
    expect(breaker.tryAcquire()).toBe("yes");
    expect(changes).toEqual([]);
    expect(tripped().changes).toEqual([false]);
  });

  it("reports the first failure in a row at once, and none while it is open", () => {
    const reported: unknown[] = [];
    const breaker = new Breaker({
      now: () => 0,
      onChange: () => {},
      onFirstFailure: (error) => reported.push(error),
    });
    const fail = (...errors: string[]) => {
      for (const error of errors) breaker.failed("yes", error);
    };
    fail("first", "second");
    breaker.succeeded();
    fail("third", "4", "5", "6", "opens", "late");
    expect(reported).toEqual(["first", "third"]);
  });

  it("is not held open by failures of requests that were made before it opened", () => {
    const { breaker, advance, changes } = tripped();
    advance(99);
    breaker.failed("yes", new Error("down"));
    advance(1);
    expect(breaker.tryAcquire()).toBe("probe");
    expect(changes).toEqual([false]);
  });

  it("lets one request probe after a pause, which doubles up to two seconds", () => {
    const { breaker, advance } = tripped();
    expect(breaker.tryAcquire()).toBe("no");
    for (const pauseMs of [100, 200, 400, 800, 1_600, 2_000, 2_000]) {
      advance(pauseMs - 1);
      expect(breaker.tryAcquire()).toBe("no");
      advance(1);
      expect(breaker.tryAcquire()).toBe("probe");
      expect(breaker.tryAcquire()).toBe("no");
      breaker.failed("probe", new Error("down"));
    }
  });

  it("closes at the first success, and reports it once", () => {
    const { breaker, advance, changes } = tripped();
    advance(100);
    expect(breaker.tryAcquire()).toBe("probe");
    breaker.succeeded();
    breaker.succeeded();
    expect(breaker.tryAcquire()).toBe("yes");
    expect(changes).toEqual([false, true]);
  });

  it("lets requests probe in a second outage as in the first", () => {
    const { breaker, advance, changes } = tripped();
    advance(100);
    breaker.tryAcquire();
    breaker.failed("probe", new Error("down"));
    advance(200);
    breaker.tryAcquire();
    breaker.succeeded();
    for (let n = 0; n < 4; n += 1) breaker.failed("yes", new Error("down"));
    expect(breaker.tryAcquire()).toBe("yes");
    breaker.failed("yes", new Error("down"));
    advance(99);
    expect(breaker.tryAcquire()).toBe("no");
    advance(1);
    expect(breaker.tryAcquire()).toBe("probe");
    expect(changes).toEqual([false, true, false]);
  });
});

it("reports the shared store as up only when every node answers again", () => {
  const reported: boolean[] = [];
  const log = { info: () => {}, warn: () => {} };
  const metrics = { ...NO_METRICS, sharedStore: (up: boolean) => reported.push(up) };
  const breakers = new NodeBreakers({ log, metrics, now: () => 0, nodes: () => ["a:1", "b:1"] });
  for (const node of ["a:1", "b:1"]) breakers.of(node).open(new Error("down"));
  for (const node of ["a:1", "b:1"]) breakers.of(node).succeeded();
  expect(reported).toEqual([false, false, false, true]);
});

it("reports the shared store as up once the node that did not answer has left the cluster", () => {
  const reported: boolean[] = [];
  const log = { info: () => {}, warn: () => {} };
  const metrics = { ...NO_METRICS, sharedStore: (up: boolean) => reported.push(up) };
  let nodes = ["a:1", "b:1"];
  const breakers = new NodeBreakers({ log, metrics, now: () => 0, nodes: () => nodes });
  breakers.of("b:1").open(new Error("down"));
  breakers.forgetGoneNodes();
  expect(reported).toEqual([false]);
  nodes = ["a:1", "c:1"];
  breakers.forgetGoneNodes();
  expect(reported).toEqual([false, true]);
  // Should it come back, it is asked anew.
  expect(breakers.of("b:1").tryAcquire()).toBe("yes");
});
