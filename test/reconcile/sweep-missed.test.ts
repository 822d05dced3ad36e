import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { PaymentApi } from "../../src/domain/providers/payment-api.ts";
import type { Slot } from "../../src/domain/slot.ts";
import type { Turn } from "../../src/jobs/job-runner.ts";
import { type SweepResult, sweepMissed } from "../../src/reconcile/sweep-missed.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import { acquireLease } from "../../src/store/leases.ts";
import type { FixtureOverrides } from "../fixtures/overrides.ts";
import { eventually } from "../support/eventually.ts";
import { stripeContext, takeTurn } from "../support/stripe-context.ts";

const context = stripeContext();
const { eventOf, receive, stored } = context;

const MINUTE_MS = 60_000;

/** An event that the provider lists; nobody has received it. */
function listed(kind: string, { secondsAgo, ...overrides }: FixtureOverrides & { secondsAgo: number }) {
  const event = eventOf(kind, { ...overrides, occurredAt: new Date(Date.now() - secondsAgo * 1000) });
  context.stripe.events.push(event);
  return event;
}

async function sweep(by: Runtime = context.runtime, isStopping = () => false): Promise<SweepResult[]> {
  const results: SweepResult[] = [];
  const swept = (result: SweepResult) => void results.push(result);
  const run = (turn: Turn) => sweepMissed(by, { everySeconds: 60, swept, ...turn });
  await takeTurn(by, "missed-events-sweep", run, isStopping);
  return results;
}

const nextIsDue = () =>
  context.test.rows("update event_sweep set swept_until = swept_until - interval '60 seconds'");

const cursor = async () => {
  const [row] = await context.test.rows<{ swept_until: Date | null; last_problem: string | null }>(
    "select swept_until, last_problem from event_sweep where provider = 'provider-a'",
  );
  return row;
};

describe("a sweep", () => {
  it("ingests events that the log lacks, and advances the cursor", async () => {
    listed("customer.subscription.created", { secondsAgo: 120 });
    await receive(listed("customer.subscription.updated", { secondsAgo: 110, seats: 2 }));
    expect(await sweep()).toEqual([
      {
        slot: "provider-a",
        report: { listed: 2, missed: 1, applied: 1, ignored: 0, failed: 0 },
        changed: null,
        isEndpointDisabled: false,
      },
    ]);
    expect(await stored()).toHaveLength(1);
    const until = (await cursor())?.swept_until?.getTime() ?? 0;
    expect(until).toBeGreaterThan(Date.now() - 5 * MINUTE_MS);
  });

  it("leaves events younger than 30 s to their webhook, and ingests them later", async () => {
    const young = listed("customer.subscription.created", { secondsAgo: 5 });
    expect(await sweep()).toMatchObject([{ report: { listed: 1, missed: 0 } }]);
    await nextIsDue();
    young.created -= 60;
    expect(await sweep()).toMatchObject([{ report: { listed: 1, missed: 1, applied: 1 } }]);
  });

  it("ingests one from far in the future, as the provider's clock is ahead", async () => {
    listed("customer.subscription.created", { secondsAgo: -3_600 });
    expect(await sweep()).toMatchObject([{ report: { missed: 1, applied: 1 } }]);
  });

  it("rereads ten minutes before its cursor", async () => {
    await sweep();
    await nextIsDue();
    listed("customer.subscription.created", { secondsAgo: 9 * 60 });
    expect(await sweep()).toMatchObject([{ report: { missed: 1, applied: 1 } }]);
  });

  it("keeps its progress when rereading those ten minutes fails", async () => {
    await sweep();
    await nextIsDue();
    const before = await cursor();
    listed("customer.subscription.created", { secondsAgo: 60 });
    let listings = 0;
    context.stripe.interfere(async ({ path }) => {
      if (path === "/v1/events") listings += 1;
      return listings > 1 ? { status: 500 } : undefined;
    });
    expect(await sweep()).toMatchObject([{ problem: expect.stringContaining("Stripe") }]);
    expect(await stored()).toHaveLength(1);
    const after = await cursor();
    expect(after?.swept_until?.getTime()).toBeGreaterThan(before?.swept_until?.getTime() as number);
    expect(after).toMatchObject({ last_problem: expect.any(String) });
  });

  it("runs on one process, and again when the next one is due", async () => {
    const results = await Promise.all([sweep(), sweep(context.other), sweep(), sweep(context.other)]);
    expect(results.flat()).toHaveLength(1);
    expect(await sweep()).toEqual([]);
    await nextIsDue();
    expect(await sweep(context.other)).toHaveLength(1);
  });

  it("starts from the same cursor after a provider was unreachable", async () => {
    await sweep();
    await nextIsDue();
    const before = await cursor();
    listed("customer.subscription.created", { secondsAgo: 120 });
    context.stripe.interfere(async () => ({ status: 500 }));
    expect(await sweep()).toMatchObject([{ slot: "provider-a", problem: expect.stringContaining("Stripe") }]);
    expect(await cursor()).toMatchObject({
      swept_until: before?.swept_until,
      last_problem: expect.any(String),
    });
    context.stripe.interfere(null);
    expect(await sweep(context.other)).toMatchObject([{ report: { applied: 1 } }]);
    expect(await cursor()).toMatchObject({ last_problem: null });
  });

  it("looks back an hour when its cursor lies in the future, as the database's clock was ahead", async () => {
    await sweep();
    await context.test.rows("update event_sweep set swept_until = now() + interval '1 year'");
    listed("customer.subscription.created", { secondsAgo: 30 * 60 });
    expect(await sweep()).toMatchObject([{ report: { missed: 1, applied: 1 } }]);
    expect((await cursor())?.swept_until?.getTime()).toBeLessThan(Date.now() + MINUTE_MS);
  });

  it("does not advance the cursor once another process has taken the lease over", async () => {
    const takenOver = { name: "job:missed-events-sweep", token: randomUUID() };
    await acquireLease(context.test.database, takenOver.name, { seconds: 60 });
    const turn = { lease: takenOver, isStopping: () => false };
    const swept = vi.fn();
    expect(await sweepMissed(context.runtime, { everySeconds: 60, swept, ...turn })).toBe(true);
    expect(swept).toHaveBeenCalledOnce();
    expect(await cursor()).toBeUndefined();
  });

  it("compares subscriptions while the endpoint is disabled and has no events, and once after it is enabled", async () => {
    await receive(eventOf("customer.subscription.created"));
    let isDisabled = true;
    const api = context.runtime.payments["provider-a"] as PaymentApi;
    const payments = {
      ...context.runtime.payments,
      "provider-a": { ...api, isEndpointDisabled: async () => isDisabled },
    };
    const sweepAgain = async () => {
      await nextIsDue();
      return sweep({ ...context.runtime, payments });
    };
    context.truth({ seats: 5 });
    expect(await sweepAgain()).toMatchObject([{ isEndpointDisabled: true, changed: { corrected: 1 } }]);
    isDisabled = false;
    context.truth({ seats: 6 });
    expect(await sweepAgain()).toMatchObject([{ isEndpointDisabled: false, changed: { corrected: 1 } }]);
    expect(await stored()).toMatchObject([{ seats: 6 }]);
    expect(await sweepAgain()).toMatchObject([{ changed: null }]);
  });

  it("compares subscriptions each time where the provider lists no events", async () => {
    await receive(eventOf("customer.subscription.created"));
    const api = context.runtime.payments["provider-a"] as PaymentApi;
    const payments = { ...context.runtime.payments, "provider-a": { ...api, listEvents: null } };
    for (const seats of [5, 6]) {
      context.truth({ seats });
      expect(await sweep({ ...context.runtime, payments })).toMatchObject([
        { report: null, changed: { corrected: 1 } },
      ]);
      await nextIsDue();
    }
    expect(await stored()).toMatchObject([{ seats: 6 }]);
  });

  describe("while the database does not take all that is missed", () => {
    const COUNT = 110;
    /** The first hundred are looked up and ingested together. */
    const listMany = (secondsAgo = 20 * 60) => {
      for (let n = 0; n < COUNT; n += 1)
        listed("customer.subscription.created", {
          secondsAgo: secondsAgo - n / COUNT,
          subscriptionId: `sub_${n}`,
          customerId: `cus_${n}`,
          userId: `user_${n % 9}`,
        });
    };
    const takeAll = () => context.test.rows("drop trigger if exists too_slow on subscription");
    const takeAllBut = async (refused: string) => {
      await context.test.rows(
        `create or replace function too_slow() returns trigger language plpgsql as $$
         begin raise exception 'canceling statement due to statement timeout' using errcode = '57014'; end $$`,
      );
      await context.test.rows(
        `create or replace trigger too_slow before insert on subscription for each row
         when (new.provider_subscription_id ${refused}) execute function too_slow()`,
      );
    };
    const takeNone = () => takeAllBut("<> 'sub_109'");
    const problem = expect.stringMatching(
      /^the database is unavailable or too slow: \d+ of \d+ missed events/,
    );
    beforeEach(takeAll);
    afterEach(takeAll);

    it("tries those behind one whose subscription is locked, and says so", async () => {
      const locked = { subscriptionId: "sub_locked", customerId: "cus_locked", userId: "user_9" };
      await receive(eventOf("customer.subscription.created", locked));
      listed("customer.subscription.updated", { ...locked, secondsAgo: 30 * 60, seats: 2 });
      listMany();
      const connection = await context.test.database.connection();
      await connection.script("begin; select from subscription for update");
      try {
        expect(await sweep()).toEqual([{ slot: "provider-a", problem }]);
      } finally {
        await connection.script("rollback");
        connection.release({ healthy: true });
      }
      expect(await stored()).toHaveLength(COUNT + 1);
      expect(await cursor()).toMatchObject({ swept_until: null, last_problem: problem });
    });

    it("tries those behind one that it never takes, also where no other of its batch is missing", async () => {
      await takeAllBut("= 'sub_never'");
      const never = { subscriptionId: "sub_never", customerId: "cus_never", userId: "user_9" };
      listed("customer.subscription.created", { ...never, secondsAgo: 30 * 60 });
      listMany();
      await Promise.all(context.stripe.events.slice(1).map((event) => receive(event)));
      const behind = { subscriptionId: "sub_behind", customerId: "cus_behind", userId: "user_8" };
      listed("customer.subscription.created", { ...behind, secondsAgo: 10 * 60 });
      expect(await sweep()).toEqual([{ slot: "provider-a", problem }]);
      expect(await stored()).toHaveLength(COUNT + 1);
    });

    it("ends where it takes none, and the next one goes on from there", async () => {
      listMany();
      await takeNone();
      expect(await sweep()).toEqual([{ slot: "provider-a", problem }]);
      expect(await stored()).toEqual([]);
      expect(await cursor()).toMatchObject({ swept_until: null, last_problem: problem });
      await takeAll();
      expect(await sweep()).toMatchObject([{ report: { missed: COUNT, applied: COUNT } }]);
      expect(await cursor()).toMatchObject({ swept_until: expect.any(Date), last_problem: null });
    });

    it("goes back to its cursor when they are older than that", async () => {
      await sweep();
      await context.test.rows("update event_sweep set swept_until = now() - interval '1 hour'");
      const before = await cursor();
      listMany(65 * 60);
      await takeNone();
      expect(await sweep()).toEqual([{ slot: "provider-a", problem }]);
      expect(await cursor()).toMatchObject({ swept_until: before?.swept_until });
      await takeAll();
      expect(await sweep()).toMatchObject([{ report: { applied: COUNT } }]);
    });
  });

  it("is made again when it is due while the provider of another slot does not answer", async () => {
    const { intake, payments } = context.runtime;
    const stripe = payments["provider-a"] as PaymentApi;
    const { promise: answer, resolve: give } = Promise.withResolvers<void>();
    const silent: PaymentApi = {
      ...stripe,
      async *listEvents() {
        await answer;
        yield* [];
      },
    };
    const prompt: PaymentApi = {
      ...stripe,
      async *listEvents() {
        yield* [];
      },
    };
    const swept: Slot[] = [];
    const tools = { intake, payments: { ...payments, "provider-a": silent, "provider-b": prompt } };
    let isStopping = false;
    const sweeping = takeTurn(
      context.runtime,
      "missed-events-sweep",
      (turn) => sweepMissed(tools, { everySeconds: 0, swept: ({ slot }) => void swept.push(slot), ...turn }),
      () => isStopping,
    );
    await eventually(async () => swept.length >= 3 && !swept.includes("provider-a"), true).finally(() => {
      isStopping = true;
      give();
    });
    expect(await sweeping).toBe(true);
    expect(swept.filter((slot) => slot === "provider-a")).toHaveLength(1);
  });

  it("does not advance the cursor when it is interrupted", async () => {
    let listing = false;
    listed("customer.subscription.created", { secondsAgo: 120 });
    context.stripe.interfere(async ({ path }) => {
      listing ||= path === "/v1/events";
      return undefined;
    });
    expect(await sweep(context.runtime, () => listing)).toMatchObject([{ report: { applied: 0 } }]);
    expect(await cursor()).toMatchObject({ swept_until: null });
    listing = false;
    await sweep();
    await nextIsDue();
    const before = await cursor();
    listing = false;
    await sweep(context.runtime, () => listing);
    expect(listing).toBe(true);
    expect(await cursor()).toEqual(before);
  });
});
