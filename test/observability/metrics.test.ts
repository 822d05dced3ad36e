import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { createMetrics } from "../../src/observability/metrics.ts";
import { findProgram } from "../support/installed-programs.ts";

const QUIET = {
  countFlagged: async () => [],
  outboundState: async () => ({
    failing: 0,
    disabled: 0,
    backlogSeconds: 0,
    unreadableChanges: 0,
    unreadableEvents: 0,
  }),
  askLimiter: () => null,
  refusedWithoutStore: [],
};
const FLAGGED = [{ provider: "provider-a", flagged: 5, settled: 2 }];
const LINE = /^tollgate_subscriptions_needing_review\{.*$/gm;

it("reports how many subscriptions need review, as they are when it is read", async () => {
  let counts = FLAGGED;
  const metrics = createMetrics({ ...QUIET, countFlagged: async () => counts });
  expect((await metrics.read()).text.match(LINE)).toEqual([
    'tollgate_subscriptions_needing_review{slot="provider-a",state="waiting"} 3',
    'tollgate_subscriptions_needing_review{slot="provider-a",state="unknown"} 2',
  ]);
  counts = [];
  expect((await metrics.read()).text.match(LINE)).toBeNull();
});

it("keeps the last counts while they cannot be read, and says so", async () => {
  let isDown = true;
  const metrics = createMetrics({
    countFlagged: async () => {
      if (isDown) throw new Error("the database is away");
      return [{ provider: "provider-b", flagged: 1, settled: 0 }];
    },
    outboundState: async () => {
      if (isDown) throw new Error("the database is away");
      return { failing: 0, disabled: 0, backlogSeconds: 7, unreadableChanges: 0, unreadableEvents: 0 };
    },
    askLimiter: () => null,
    refusedWithoutStore: [],
  });
  const isUp = (text: string) => /^tollgate_database_gauges_current (\d)$/m.exec(text)?.[1];
  // Its 0 of outbound events is none that was read.
  expect(isUp((await metrics.read()).text)).toBe("0");
  isDown = false;
  expect(isUp((await metrics.read()).text)).toBe("1");
  isDown = true;
  const { text } = await metrics.read();
  expect(isUp(text)).toBe("0");
  expect(text).toContain('{slot="provider-b",state="waiting"} 1');
  expect(text).toContain("tollgate_outbound_backlog_seconds 7");
});

it("does not wait for counts that a silent database does not return", async () => {
  const never = new Promise<never>(() => {});
  const metrics = createMetrics({ ...QUIET, countFlagged: () => never, outboundState: () => never });
  metrics.delivered("provider-a", "unavailable");
  expect((await metrics.read()).text).toContain(
    'tollgate_webhook_deliveries_total{slot="provider-a",outcome="unavailable"} 1',
  );
});

it("counts what alerts watch from 0, as the growth of a series that begins at 1 is not seen", async () => {
  const metrics = createMetrics({ ...QUIET, refusedWithoutStore: ["billing"] });
  metrics.called("plans.list", "ok");
  const { text } = await metrics.read();
  expect(text.match(/^tollgate_(?:webhook|job|operations|limiter|outbound_deliveries)\S* 0$/gm)).toEqual(
    expect.arrayContaining([
      'tollgate_webhook_deliveries_total{slot="provider-c",outcome="refused"} 0',
      'tollgate_webhook_deliveries_total{slot="provider-a",outcome="unavailable"} 0',
      'tollgate_job_runs_total{job="nightly-comparison",outcome="failed"} 0',
      'tollgate_operations_total{operation="plans.list",outcome="defect"} 0',
      'tollgate_limiter_without_store_total{scope="billing",how="unavailable"} 0',
      'tollgate_limiter_memory_full_total{outcome="refused"} 0',
      'tollgate_outbound_deliveries_total{outcome="failed"} 0',
      "tollgate_outbound_deliveries_given_up_total 0",
    ]),
  );
});

it("has the limiter ask its store first, and reports what it learns", async () => {
  const metrics = createMetrics({ ...QUIET, askLimiter: async () => metrics.limiter.sharedStore(true) });
  metrics.limiter.sharedStore(false);
  expect((await metrics.read()).text).toMatch(/^tollgate_limiter_store_up 1$/m);
});

it("reports attempts to deliver outbound events, their backlog and unhealthy endpoints", async () => {
  let state = { failing: 2, disabled: 1, backlogSeconds: 90.5, unreadableChanges: 3, unreadableEvents: 4 };
  const metrics = createMetrics({ ...QUIET, outboundState: async () => state });
  for (const outcome of ["delivered", "failed", "delivered"] as const) metrics.sent(outcome);
  metrics.gaveUp();
  const lines = async () => (await metrics.read()).text.match(/^tollgate_outbound_.*$/gm);
  expect(await lines()).toEqual([
    'tollgate_outbound_deliveries_total{outcome="delivered"} 2',
    'tollgate_outbound_deliveries_total{outcome="failed"} 1',
    "tollgate_outbound_deliveries_given_up_total 1",
    "tollgate_outbound_backlog_seconds 90.5",
    'tollgate_outbound_endpoints_unhealthy{state="failing"} 2',
    'tollgate_outbound_endpoints_unhealthy{state="disabled"} 1',
    "tollgate_outbound_changes_unreadable 3",
    "tollgate_outbound_events_unreadable 4",
  ]);
  state = { failing: 0, disabled: 0, backlogSeconds: 0, unreadableChanges: 0, unreadableEvents: 0 };
  expect(await lines()).toContain("tollgate_outbound_backlog_seconds 0");
});

it("uses the suffix _total for counters only, and no type as a suffix", async () => {
  const { text } = await createMetrics(QUIET).read();
  const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = "", type = ""]) => ({
    name,
    type,
  }));
  expect(types.length).toBeGreaterThan(10);
  for (const { name, type } of types)
    expect([name, name.endsWith("_total")]).toEqual([name, type === "counter"]);
  expect(types.filter(({ name, type }) => name.split("_").includes(type))).toEqual([]);
  const described = [...text.matchAll(/^# HELP (\S+) \S/gm)].map(([, name]) => name);
  expect(described).toEqual(types.map(({ name }) => name));
});

const promtool = findProgram("promtool");

it.skipIf(promtool === null)(
  `passes promtool check metrics${promtool === null ? ": needs promtool (apt-get install prometheus)" : ""}`,
  async () => {
    const metrics = createMetrics({ ...QUIET, countFlagged: async () => FLAGGED });
    metrics.delivered("provider-a", "applied");
    metrics.called("users.showProfile", "ok");
    metrics.sent("delivered");
    metrics.jobRan("webhook-retry", "ok");
    metrics.limiter.sharedStore(true);
    metrics.limiter.decidedWithoutStore("api", "local");
    metrics.limiter.memoryFull("refused");
    const checking = promisify(execFile)(promtool as string, ["check", "metrics"]);
    checking.child.stdin?.end((await metrics.read()).text);
    expect(await checking.catch((error) => error)).toMatchObject({ stdout: "", stderr: "" });
  },
);
