import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { STALLED_AFTER_MS } from "../../src/domain/end-when-stalled.ts";
import { createJobRunner, type Turn, type WithLease } from "../../src/jobs/job-runner.ts";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** Leases that are shared by the processes started with them. */
function leases(): WithLease {
  const leases = new Set<string>();
  return async (name, _options, work) => {
    if (leases.has(name)) return null;
    leases.add(name);
    return work({ name, token: name, isLost: () => !leases.has(name) }).finally(() => leases.delete(name));
  };
}

function runner(withLease = leases()) {
  const outcomes: string[] = [];
  const lines: object[] = [];
  const log = { warn: (fields: object) => lines.push(fields) };
  return {
    outcomes,
    lines,
    jobs: createJobRunner({ withLease, log, observe: (...observed) => outcomes.push(observed.join(" ")) }),
  };
}

describe("createJobRunner", () => {
  it("waits a fixed delay between runs", async () => {
    const { jobs, outcomes } = runner();
    jobs.start({
      name: "slow",
      everyMs: 1_000,
      run: () => new Promise((resolve) => setTimeout(resolve, 500)),
    });
    await vi.advanceTimersByTimeAsync(999);
    expect(outcomes).toEqual([]);
    await vi.advanceTimersByTimeAsync(501);
    expect(outcomes).toEqual(["slow ok"]);
    await vi.advanceTimersByTimeAsync(1_499);
    expect(outcomes).toEqual(["slow ok"]);
    await vi.advanceTimersByTimeAsync(1);
    expect(outcomes).toEqual(["slow ok", "slow ok"]);
  });

  it("runs no job by itself where jobs run on request", async () => {
    const outcomes: string[] = [];
    const jobs = createJobRunner({
      withLease: leases(),
      log: { warn: () => {} },
      observe: (...run) => outcomes.push(run.join(" ")),
      runsOn: "request",
    });
    jobs.start({ name: "clean-up", everyMs: 1_000, run: async () => {} });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(outcomes).toEqual([]);
    expect(await jobs.runNow("clean-up")).toBe("ok");
    await vi.advanceTimersByTimeAsync(10_000);
    expect(outcomes).toEqual(["clean-up ok"]);
    expect(await jobs.runNow("clean-up")).toBe("ok");
    expect(outcomes).toEqual(["clean-up ok", "clean-up ok"]);
  });

  it("says that another process runs a job when a run is requested", async () => {
    const shared = leases();
    const [first, second] = [runner(shared), runner(shared)];
    const slow = { name: "slow", everyMs: 10, run: () => new Promise((resolve) => setTimeout(resolve, 500)) };
    second.jobs.start(slow);
    first.jobs.start({ ...slow, everyMs: 10_000 });
    await vi.advanceTimersByTimeAsync(10);
    expect(await first.jobs.runNow("slow")).toBe("already_running");
  });

  it("logs a failed run with the job's name, and runs it again", async () => {
    const { jobs, outcomes, lines } = runner();
    let runs = 0;
    const err = new Error("database gone");
    jobs.start({
      name: "clean-up",
      everyMs: 1_000,
      run: async () => {
        runs += 1;
        if (runs === 1) throw err;
      },
    });
    await vi.advanceTimersByTimeAsync(2_000);
    expect(outcomes).toEqual(["clean-up failed", "clean-up ok"]);
    expect(lines).toEqual([{ err, job: "clean-up", againInSeconds: 1 }]);
  });

  it("does not fill the log while a job that runs often fails", async () => {
    const { jobs, outcomes, lines } = runner();
    let isAway = true;
    jobs.start({
      name: "often",
      everyMs: 500,
      run: async () => {
        if (isAway) throw new Error("database gone");
      },
    });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(outcomes.length).toBeGreaterThan(100);
    expect(lines).toHaveLength(2);
    isAway = false;
    await vi.advanceTimersByTimeAsync(500);
    isAway = true;
    await vi.advanceTimersByTimeAsync(500);
    // The next failure after a success is news.
    expect(lines).toHaveLength(3);
  });

  it("counts a run that resolves to failed as one, which has logged the reason itself", async () => {
    const { jobs, outcomes, lines } = runner();
    jobs.start({ name: "sweep", everyMs: 1_000, run: async () => "failed" });
    expect(await jobs.runNow("sweep")).toBe("failed");
    expect([outcomes, lines]).toEqual([["sweep failed"], []]);
  });

  it("runs a job now, and waits the whole delay afterwards", async () => {
    const { jobs, outcomes } = runner();
    jobs.start({ name: "clean-up", everyMs: 1_000, run: async () => {} });
    await vi.advanceTimersByTimeAsync(900);
    expect(await jobs.runNow("clean-up")).toBe("ok");
    await vi.advanceTimersByTimeAsync(999);
    expect(outcomes).toEqual(["clean-up ok"]);
    await vi.advanceTimersByTimeAsync(1);
    expect(outcomes).toEqual(["clean-up ok", "clean-up ok"]);
    expect(jobs.runNow("unknown")).toBeUndefined();
  });

  it("waits for a run in progress when a run is requested", async () => {
    const { jobs, outcomes } = runner();
    jobs.start({
      name: "slow",
      everyMs: 10,
      run: async () => {
        await new Promise((resolve) => setTimeout(resolve, 500));
        throw new Error("provider away");
      },
    });
    await vi.advanceTimersByTimeAsync(10);
    const joined = jobs.runNow("slow");
    await vi.advanceTimersByTimeAsync(500);
    expect(await joined).toBe("failed");
    expect(outcomes).toEqual(["slow failed"]);
  });

  it("asks the current run to stop, and stops once it has ended", async () => {
    const { jobs, outcomes } = runner();
    jobs.start({
      name: "long",
      everyMs: 10,
      run: async ({ isStopping }) => {
        while (!isStopping()) await new Promise((resolve) => setTimeout(resolve, 10));
      },
    });
    jobs.start({ name: "later", everyMs: 500, run: async () => {} });
    await vi.advanceTimersByTimeAsync(50);
    const stopped = jobs.stop().then(() => [...outcomes]);
    await vi.advanceTimersByTimeAsync(10);
    expect(await stopped).toEqual(["long ok"]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(outcomes).toEqual(["long ok"]);
    expect(jobs.runNow("later")).toBeUndefined();
  });

  it("runs a job in one process at a time", async () => {
    const shared = leases();
    const first = runner(shared);
    const second = runner(shared);
    let runs = 0;
    const job = {
      name: "sweep",
      everyMs: 1_000,
      run: async () => {
        runs += 1;
        await new Promise((resolve) => setTimeout(resolve, 500));
      },
    };
    first.jobs.start(job);
    await vi.advanceTimersByTimeAsync(100);
    second.jobs.start(job);
    await vi.advanceTimersByTimeAsync(1_300);
    expect(runs).toBe(1);
    await vi.advanceTimersByTimeAsync(700);
    expect(runs).toBe(2);
  });

  it("holds a lease of half a minute, or of the job's own time, and names it to the run", async () => {
    const leases: string[] = [];
    const { jobs } = runner((name, { seconds }, work) => {
      leases.push(`${name} ${seconds}`);
      return work({ name, token: `token of ${name}`, isLost: () => false });
    });
    const tokens: string[] = [];
    const run = async ({ lease }: Turn) => tokens.push(lease.token);
    jobs.start({ name: "nightly", everyMs: 10, run });
    jobs.start({ name: "often", everyMs: 10, leaseSeconds: 4, run });
    await vi.advanceTimersByTimeAsync(10);
    expect(leases).toEqual(["job:nightly 30", "job:often 4"]);
    expect(tokens).toEqual(["token of job:nightly", "token of job:often"]);
  });

  it("stops a run that has lost its lease", async () => {
    let isLost = false;
    const { jobs, outcomes } = runner((name, _options, work) =>
      work({ name, token: name, isLost: () => isLost }),
    );
    jobs.start({
      name: "long",
      everyMs: 10,
      run: async ({ isStopping }) => {
        while (!isStopping()) await new Promise((resolve) => setTimeout(resolve, 10));
      },
    });
    await vi.advanceTimersByTimeAsync(50);
    expect(outcomes).toEqual([]);
    isLost = true;
    await vi.advanceTimersByTimeAsync(10);
    expect(outcomes).toEqual(["long ok"]);
  });

  it("gives up a run that hangs, tells it to stop, and lets another process run the job", async () => {
    const shared = leases();
    const [first, second] = [runner(shared), runner(shared)];
    const turns: Turn[] = [];
    const hang = (turn: Turn) => {
      turns.push(turn);
      return new Promise(() => {});
    };
    first.jobs.start({ name: "heal", everyMs: 1_000, run: hang });
    second.jobs.start({ name: "heal", everyMs: 10 * STALLED_AFTER_MS, run: async () => {} });
    await vi.advanceTimersByTimeAsync(1_000 + STALLED_AFTER_MS - 1);
    expect(await second.jobs.runNow("heal")).toBe("already_running");
    expect([first.outcomes, turns[0]?.isStopping()]).toEqual([[], false]);

    await vi.advanceTimersByTimeAsync(STALLED_AFTER_MS);
    expect(first.outcomes).toEqual(["heal failed"]);
    const err = new Error("given up: nothing has happened for 10 minutes");
    expect(first.lines).toEqual([{ err, job: "heal", againInSeconds: 1 }]);
    expect(turns[0]?.isStopping()).toBe(true);
    expect(await second.jobs.runNow("heal")).toBe("ok");
    await vi.advanceTimersByTimeAsync(1_000);
    expect(turns).toHaveLength(2);
  });

  it.each(["isDue", "lease"] as const)("runs a job again whose %s was never answered", async (hanging) => {
    let asked = 0;
    const hang = () => {
      asked += 1;
      return new Promise<never>(() => {});
    };
    const { jobs, outcomes } = runner(hanging === "lease" ? hang : leases());
    const isDue = hanging === "isDue" ? { isDue: hang } : {};
    jobs.start({ name: "heal", everyMs: 1_000, ...isDue, run: async () => {} });
    await vi.advanceTimersByTimeAsync(2_000 + STALLED_AFTER_MS);
    expect([outcomes, asked]).toEqual([["heal failed"], 2]);
  });

  it("leaves a run alone that takes hours, as long as it goes on", async () => {
    const { jobs, outcomes } = runner();
    jobs.start({
      name: "nightly",
      everyMs: 1_000,
      run: async ({ isStopping }) => {
        for (let step = 0; step < 5 && !isStopping(); step += 1)
          await new Promise((resolve) => setTimeout(resolve, STALLED_AFTER_MS - 1));
      },
    });
    await vi.advanceTimersByTimeAsync(1_000 + 5 * STALLED_AFTER_MS);
    expect(outcomes).toEqual(["nightly ok"]);
  });

  it("acquires no lease while nothing is due", async () => {
    const acquired: string[] = [];
    let due = false;
    const { jobs } = runner(async (name) => {
      acquired.push(name);
      return null;
    });
    jobs.start({ name: "heal", everyMs: 10, isDue: async () => due, run: async () => {} });
    await vi.advanceTimersByTimeAsync(100);
    expect(acquired).toEqual([]);
    due = true;
    await vi.advanceTimersByTimeAsync(10);
    expect(acquired).toEqual(["job:heal"]);
  });
});
