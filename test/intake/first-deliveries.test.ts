import pg from "pg";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Intake, Milestone, ReceiveResult } from "../../src/intake/intake.ts";
import { createRecentKeys } from "../../src/intake/queue/recent-keys.ts";
import type { Statement } from "../../src/store/database.ts";
import { fixtureDelivery } from "../fixtures/fixture.ts";
import { freshRuntime } from "../support/fresh-runtime.ts";
import { SECRETS } from "../support/variables.ts";

const { test, runtime } = freshRuntime({ users: 20, variables: { WEBHOOK_LEASE_SECONDS: "90" } });

let configured: Pick<Intake, "database" | "plans" | "reached">;
beforeEach(async () => {
  const { database, plans, reached } = runtime.intake;
  configured = { database, plans, reached };
  // The tests use the same event ids: none may count as seen.
  runtime.intake.recent = createRecentKeys(10);
  await test.rows("truncate webhook_delivery, webhook_attempt, subscription cascade");
});
afterEach(() => Object.assign(runtime.intake, configured));

async function receive(eventId: string, facts: Parameters<typeof resultOf>[1] = {}): Promise<string> {
  return (await resultOf(eventId, facts)).outcome;
}

async function resultOf(eventId: string, { n = 0, seats = 5, planId = "team" } = {}): Promise<ReceiveResult> {
  const { rawBody, headers } = fixtureDelivery("stripe", "customer.subscription.updated", {
    secret: SECRETS["provider-a"],
    nowSeconds: Math.floor(Date.now() / 1000),
    eventId,
    subscriptionId: `sub-${n}`,
    customerId: `sub-${n}`,
    userId: `user_${n}`,
    planId,
    seats,
    occurredAt: new Date(Date.UTC(2026, 0, 1) + seats * 1000),
  });
  const request = { rawBody, header: (name: string) => headers[name] };
  return runtime.intake.receive("provider-a", request);
}

describe.each(["40001", "40P01"])("a group that meets contention (SQLSTATE %s)", (code) => {
  const contendedRun: Milestone[] = ["effects written"];

  it("is written in its third run", async () => {
    const milestones = meetContention({ runs: 2 });
    expect(await receivePair()).toEqual(["applied", "applied"]);
    expect(milestones).toEqual([...contendedRun, ...contendedRun, "effects written", "committed"]);
  });

  it("is claimed first after its third run", async () => {
    const milestones = meetContention({ runs: 3 });
    expect(await receivePair()).toEqual(["applied", "applied"]);
    const firstFour = milestones.slice(0, 4);
    expect(firstFour).toEqual([...contendedRun, ...contendedRun, ...contendedRun, "claimed"]);
  });

  function meetContention({ runs }: { runs: number }): Milestone[] {
    const milestones: Milestone[] = [];
    runtime.intake.reached = (milestone) => {
      milestones.push(milestone);
      if (milestone === "effects written" && milestones.length <= runs)
        throw Object.assign(new pg.DatabaseError("contention", 0, "error"), { code });
    };
    return milestones;
  }

  const receivePair = () => Promise.all([receive("one"), receive("other", { n: 1 })]);
});

it("returns the delivery id of each event that fails in a group", async () => {
  const results = await Promise.all([
    resultOf("z fails", { n: 98 }),
    resultOf("applied"),
    resultOf("a fails", { n: 99 }),
  ]);
  const logged = await test.rows<{ id: string; event_id: string }>(
    "select id::text, event_id from webhook_delivery",
  );
  const idOf = (eventId: string) => logged.find((row) => row.event_id === eventId)?.id;
  expect(results).toEqual([
    { outcome: "failed", deliveryId: idOf("z fails") },
    { outcome: "applied" },
    { outcome: "failed", deliveryId: idOf("a fails") },
  ]);
});

it("fails only the event whose decision throws, and applies the others in the same transaction", async () => {
  const { plans } = configured;
  const milestones: Milestone[] = [];
  Object.assign(runtime.intake, {
    reached: (milestone: Milestone) => milestones.push(milestone),
    plans: {
      ...plans,
      find: (planId: string) => {
        if (planId === "defective") throw new TypeError("no such plan");
        return plans.find(planId);
      },
    },
  });
  const outcomes = await Promise.all([
    receive("before"),
    receive("defective", { n: 1, planId: "defective" }),
    receive("behind", { n: 2 }),
  ]);
  expect(outcomes).toEqual(["applied", "failed", "applied"]);
  expect(milestones).toEqual(["effects written", "committed"]);
  expect(
    await test.rows("select event_id, last_reason from webhook_delivery where status = 'failed'"),
  ).toEqual([{ event_id: "defective", last_reason: "defect" }]);
  expect(await test.rows("select provider_subscription_id as name from subscription order by 1")).toEqual([
    { name: "sub-0" },
    { name: "sub-2" },
  ]);
});

it("looks known deliveries up behind the locks, in the same round trip", async () => {
  const { database } = configured;
  const log: string[] = [];
  runtime.intake.database = {
    ...database,
    connection: async () => {
      const connection = await database.connection();
      return {
        ...connection,
        run: async <Row>(statement: Statement, values?: readonly unknown[]) => {
          log.push(statement.name);
          const rows = await connection.run<Row>(statement, values);
          log.push("response");
          return rows;
        },
      };
    },
  };
  expect(await receive("looked-up")).toBe("applied");
  const firstRoundTrip = log.slice(0, log.indexOf("response"));
  const inOrder = ["lock_free_subscriptions", "known_deliveries"];
  expect(firstRoundTrip.filter((name) => inOrder.includes(name))).toEqual(inOrder);
});

it("stores the time of arrival of an event that has waited for the group before it", async () => {
  let arrivesAfter = "";
  const waiting: Promise<string>[] = [];
  runtime.intake.reached = async (milestone) => {
    if (milestone !== "effects written" || waiting.length > 0) return;
    const [row] = await test.rows<{ now: string }>("select clock_timestamp()::text as now");
    arrivesAfter = row?.now as string;
    waiting.push(receive("waiting", { seats: 6 }));
    await test.rows("select pg_sleep(0.3)");
  };
  await receive("before", { seats: 5 });
  await Promise.all(waiting);
  await runtime.intake.idle();
  expect(
    await test.rows(
      `select received_at >= $1::timestamptz as "isAfter", received_at <= completed_at - interval '0.3 s' as "hasWaited"
       from webhook_delivery where event_id = 'waiting'`,
      [arrivesAfter],
    ),
  ).toEqual([{ isAfter: true, hasWaited: true }]);
});

it("frees a locked subscription within seconds when the process stops before the commit", async () => {
  await receive("before", { seats: 5 });
  const waits: string[] = [];
  runtime.intake.reached = async () => {
    waits.push(await lockElsewhere("sub-0", { withinSeconds: 15 }));
  };
  expect(await receive("stopped", { seats: 6 })).toBe("unavailable");
  await runtime.intake.idle();
  expect(waits).toEqual(["locked"]);
  expect(await test.rows("select event_id from webhook_delivery")).toEqual([{ event_id: "before" }]);
});

async function lockElsewhere(
  subscriptionId: string,
  { withinSeconds }: { withinSeconds: number },
): Promise<string> {
  const connection = await test.database.connection();
  try {
    await connection.script(
      `begin; set local lock_timeout = '${withinSeconds}s';
       select from subscription where provider_subscription_id = '${subscriptionId}' for update`,
    );
    return "locked";
  } catch (error) {
    return (error as Error).message;
  } finally {
    connection.release({ healthy: false });
  }
}
