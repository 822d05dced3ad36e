import { beforeEach, describe, expect, it } from "vitest";
import type { Slot } from "../../src/domain/slot.ts";
import { claimGroup } from "../../src/intake/claims/claim.ts";
import { retryDue } from "../../src/intake/claims/retry.ts";
import type { IncomingEvent } from "../../src/intake/incoming-event.ts";
import { keyOf } from "../../src/store/deliveries/delivery-key.ts";
import { fixtureDelivery } from "../fixtures/fixture.ts";
import type { FixtureOverrides } from "../fixtures/overrides.ts";
import { eventually } from "../support/eventually.ts";
import { freshRuntime } from "../support/fresh-runtime.ts";
import { SECRETS } from "../support/variables.ts";

const { test, runtime } = freshRuntime({
  users: 20,
  variables: { PROVIDER_B_ADAPTER: "stripe", PROVIDER_C_ADAPTER: "lemon-squeezy" },
});
beforeEach(() => test.rows("truncate webhook_delivery, webhook_attempt, subscription cascade"));

const ADAPTERS = { "provider-a": "stripe", "provider-b": "stripe", "provider-c": "lemon-squeezy" } as const;
const SLOTS = ["provider-a", "provider-c"] as const;
let number = 0;

/** Of a new event unless one is named; those of `provider-c` are claimed before they are applied. */
async function receive(
  slot: keyof typeof ADAPTERS,
  subscriptionId: string,
  userId: string,
  { eventId = `event-${++number}`, customerId = subscriptionId, seats = 5 } = {},
): Promise<string> {
  const { rawBody, headers } = fixtureDelivery(ADAPTERS[slot], "customer.subscription.updated", {
    secret: SECRETS[slot as Slot],
    nowSeconds: Math.floor(Date.now() / 1000),
    eventId,
    subscriptionId,
    customerId,
    userId,
    planId: "team",
    seats,
  });
  const { outcome } = await runtime.intake.receive(slot, { rawBody, header: (name) => headers[name] });
  return outcome;
}

/** Runs `work` while another transaction holds what the statement locks. */
async function whileLocked<Result>(statement: string, work: () => Promise<Result>): Promise<Result> {
  const connection = await test.database.connection();
  try {
    await connection.script(`begin; ${statement}`);
    return await work();
  } finally {
    await connection.script("rollback");
    connection.release({ healthy: true });
  }
}

/** Shorter than any event waits for a lock, and much longer than one that is free takes. */
const SOON_MS = 400;

/**
 * Whether the others, sent once the first ones are on their way, are applied while these still wait. Several
 * rounds: on a machine that stands still, one proves nothing.
 */
async function areIndependent(
  waiting: () => Promise<string>[],
  others: () => Promise<string>[],
  isUnderWay: () => boolean = () => true,
): Promise<boolean> {
  for (let round = 0; round < 5; round += 1) {
    let isWaiting = true;
    const answers = waiting().map((answer) =>
      answer.then(() => {
        isWaiting = false;
      }),
    );
    await eventually(async () => isUnderWay(), true);
    const sentAt = performance.now();
    const outcomes = await Promise.all(others());
    const areSoon = isWaiting && performance.now() - sentAt < SOON_MS;
    await Promise.all(answers);
    if (areSoon && outcomes.every((outcome) => outcome === "applied")) return true;
  }
  return false;
}

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);

/** As of a subscription that was imported, or begun at the provider: without a user or a plan. */
async function receiveWithoutUser(eventType: string, overrides: FixtureOverrides): Promise<string> {
  const { rawBody, headers } = fixtureDelivery("stripe", eventType, {
    secret: SECRETS["provider-a"],
    nowSeconds: Math.floor(Date.now() / 1000),
    eventId: `event-${++number}`,
    userId: null,
    planId: null,
    priceId: "price_team_monthly",
    ...overrides,
  });
  const header = (name: string) => headers[name];
  return (await runtime.intake.receive("provider-a", { rawBody, header })).outcome;
}

describe("a locked subscription", () => {
  const lock = "select from subscription where provider_subscription_id = 'sub-0' for update";

  it("holds up no other one's events without a user", async () => {
    const customerOf = (n: number) => ({ customerId: `customer-${n}` });
    await Promise.all(numbers(10).map((n) => receive("provider-a", `sub-${n}`, `user_${n}`, customerOf(n))));
    const outcomes = await whileLocked(lock, () =>
      Promise.all(
        numbers(10).map((n) =>
          receiveWithoutUser("customer.subscription.updated", {
            subscriptionId: `sub-${n}`,
            seats: 7,
            ...customerOf(n),
          }),
        ),
      ),
    );
    expect(outcomes).toEqual(["unavailable", ...Array(9).fill("applied")]);
  });

  it("holds up no other person's checkouts without a subscription", async () => {
    expect(await receive("provider-a", "sub-0", "user_0")).toBe("applied");
    const outcomes = await whileLocked(lock, () =>
      Promise.all(
        numbers(5).map((n) =>
          receiveWithoutUser("checkout.session.completed", {
            subscriptionId: null,
            userId: `user_${n}`,
            planId: "pro",
            customerId: `customer-${n}`,
          }),
        ),
      ),
    );
    expect(outcomes).toEqual(["unavailable", ...Array(4).fill("applied")]);
  });
});

describe.each(SLOTS)("in %s", (slot) => {
  it("a locked subscription delays no other one's events", async () => {
    await Promise.all(numbers(17).map((n) => receive(slot, `sub-${n}`, `user_${n}`)));
    const lock = "select from subscription where provider_subscription_id = 'sub-0' for update";
    const independent = await whileLocked(lock, () =>
      areIndependent(
        () => [receive(slot, "sub-0", "user_0")],
        () => numbers(16).map((n) => receive(slot, `sub-${n + 1}`, `user_${n + 1}`)),
      ),
    );
    expect(independent).toBe(true);
  });

  it("a locked user delays nobody else's first subscription", async () => {
    const independent = await whileLocked(`select from "user" where id = 'user_0' for update`, () =>
      areIndependent(
        () => [receive(slot, "sub-0", "user_0")],
        () => numbers(16).map((n) => receive(slot, `new-${++number}`, `user_${n + 1}`)),
      ),
    );
    expect(independent).toBe(true);
  });
});

it("subscriptions that stay locked do not delay the event of one that is locked briefly", async () => {
  const stuck = numbers(4).map((n) => () => receive("provider-a", `stuck-${n}`, `user_${n}`));
  const brief = () => receive("provider-a", "brief", "user_19");
  for (const event of [...stuck, brief]) expect(await event()).toBe("applied");
  const lock = "select from subscription where provider_subscription_id like 'stuck-%' for update";
  const independent = await whileLocked(lock, () =>
    areIndependent(
      () => [oneByOne(stuck)],
      () => [lockedBriefly("brief", brief)],
      () => runtime.intake.attempts.load().items === stuck.length,
    ),
  );
  expect(independent).toBe(true);
});

/** Sends each event once the one before waits: together they would wait in one group. Returns the first answer. */
async function oneByOne(events: readonly (() => Promise<string>)[]): Promise<string> {
  await runtime.intake.idle();
  const answers: Promise<string>[] = [];
  for (const [index, event] of events.entries()) {
    answers.push(event());
    await eventually(async () => runtime.intake.attempts.load().items, index + 1);
  }
  return Promise.race(answers);
}

/** Sends the event while its subscription is locked, which ends once the event waits. */
async function lockedBriefly(subscriptionId: string, send: () => Promise<string>): Promise<string> {
  const before = runtime.intake.attempts.load().items;
  const lock = `select from subscription where provider_subscription_id = '${subscriptionId}' for update`;
  const { answer } = await whileLocked(lock, async () => {
    const answer = send();
    await eventually(async () => runtime.intake.attempts.load().items, before + 1);
    return { answer };
  });
  return answer;
}

it("locked deliveries delay no other events", async () => {
  const again = () =>
    numbers(3).map((n) => receive("provider-a", `failed-${n}`, "nobody", { eventId: `failed-${n}` }));
  for (const failing of again()) expect(await failing).toBe("failed");
  const independent = await whileLocked("select from webhook_delivery for update", () =>
    areIndependent(
      again,
      () => numbers(20).flatMap((n) => SLOTS.map((slot) => receive(slot, `sub-${n}`, `user_${n}`))),
      () => runtime.intake.claims.load().items > 0,
    ),
  );
  expect(independent).toBe(true);
  expect(await runtime.isReady()).toBe(true);
});

const insertDeliveries = (eventIds: string) =>
  `insert into webhook_delivery (provider, event_id, event_type, format, status, claim_source, payload)
   select 'provider-a', id, 'x', 'stripe', 'successful', 'delivery', '{}' from (${eventIds}) ids (id)`;

it("a locked delivery does not hold up the event of the same id in another slot", async () => {
  for (const slot of ["provider-a", "provider-b"] as const)
    expect(await receive(slot, `same-${slot}`, "nobody", { eventId: "same" })).toBe("failed");
  const lock = `select from webhook_delivery where provider = 'provider-a' for update;
    ${insertDeliveries("select 'inserted'")}`;
  const inserted = await whileLocked(lock, async () => {
    const waiting = receive("provider-a", "inserted", "user_1", { eventId: "inserted" });
    expect(await receive("provider-b", "same-provider-b", "user_2", { eventId: "same" })).toBe("applied");
    return waiting;
  });
  expect(inserted).toBe("unavailable");
});

/** An event as it is claimed; those of one payment stay in order. */
function incoming(eventId: string, paymentId?: string): IncomingEvent {
  const delivery = {
    provider: "provider-a" as const,
    eventId,
    eventType: "x",
    format: "stripe",
    occurredAtMicros: null,
    source: "delivery" as const,
    payload: Buffer.from("{}"),
  };
  const payment = { charge: null, names: [paymentId], reversal: null };
  const event = { kind: "payment", providerSubscriptionId: null, payment };
  return {
    slot: "provider-a",
    reading: (paymentId === undefined
      ? { failure: { reason: "defect" } }
      : { event }) as IncomingEvent["reading"],
    delivery,
    key: keyOf(delivery),
    startedAtMs: performance.now(),
    isAwaited: () => true,
  };
}

it("delays only the claims behind a delivery that another transaction is inserting", async () => {
  const ofOne = numbers(4).map((n) => incoming(`one-${n}`, "one"));
  const others = numbers(3).map((n) => incoming(`other-${n}`));
  await whileLocked(insertDeliveries("select 'one-0'"), async () => {
    const claimed = await claimGroup(runtime.intake, [...ofOne, ...others]);
    expect(claimed.map((claim) => claim instanceof Promise)).toEqual([
      ...ofOne.map(() => true),
      ...others.map(() => false),
    ]);
    await Promise.all(claimed);
  });
});

it("claims are not held up by each of many deliveries that another transaction is inserting", async () => {
  const events = numbers(10).map((n) => ({ ...incoming(`inserted-${n}`), isAwaited: () => false }));
  let transactions = 0;
  const counting = Object.create(runtime.intake.database, {
    connection: {
      value: () => {
        transactions += 1;
        return runtime.intake.database.connection();
      },
    },
  });
  await whileLocked(insertDeliveries("select 'inserted-' || n from generate_series(0, 9) n"), async () => {
    const claimed = await claimGroup({ ...runtime.intake, database: counting }, events);
    expect(await Promise.all(claimed)).toEqual(events.map(() => "unavailable"));
  });
  // The group, the search for locked ones, and the first three by themselves.
  expect(transactions).toBe(5);
});

it("keeps those behind an event that has not been applied in order, whatever links them", async () => {
  for (const name of ["one", "two"]) expect(await receive("provider-c", name, "user_1")).toBe("applied");
  const lock = "select from subscription where provider_subscription_id = 'one' for update";
  const outcomes = await whileLocked(lock, () =>
    Promise.all([
      receive("provider-c", "one", "user_2", { customerId: "shared", seats: 6 }),
      receive("provider-c", "two", "user_3", { customerId: "shared", seats: 7 }),
      receive("provider-c", "two", "user_4", { seats: 8 }),
    ]),
  );
  expect(outcomes).toEqual(["unavailable", "unavailable", "unavailable"]);
});

it("a retry pass that fails leaves no attempt behind", async () => {
  expect(await receive("provider-a", "due", "late")).toBe("failed");
  await test.rows(`insert into "user" (id, name, email) values ('late', 'N', 'late@example.com')`);
  expect(await receive("provider-a", "due", "late")).toBe("applied");
  await test.rows("update webhook_delivery set next_attempt_at = now() where status = 'failed'");
  const { database } = runtime.intake;
  let transactions = 0;
  const failing = Object.create(database, {
    // The third claims the second batch.
    connection: {
      value: () => (++transactions === 3 ? Promise.reject(new Error("lost")) : database.connection()),
    },
  });
  const lock = "select from subscription where provider_subscription_id = 'due' for update";
  await whileLocked(lock, async () => {
    await expect(retryDue({ ...runtime.intake, database: failing })).rejects.toThrow("lost");
    expect(runtime.intake.attempts.load().items).toBe(0);
  });
  await test.rows(`delete from "user" where id = 'late'`);
});

it("retries everything else that is due beside a locked subscription", async () => {
  await Promise.all(numbers(300).map((n) => receive("provider-a", `due-${n}`, `late_${n % 50}`)));
  await test.rows(
    `insert into "user" (id, name, email) select 'late_' || n, 'N', 'late_' || n || '@example.com'
     from generate_series(0, 49) n`,
  );
  expect(await receive("provider-a", "due-0", "late_0")).toBe("applied");
  await test.rows(
    `update webhook_delivery set next_attempt_at = clock_timestamp() - (
       case first_outcome when 'failed' then 1 end + (id = (select min(id) from webhook_delivery))::int
     ) * interval '1 second' where status = 'failed'`,
  );
  const lock = "select from subscription where provider_subscription_id = 'due-0' for update";
  const report = await whileLocked(lock, () => retryDue(runtime.intake));
  // The six of the subscription's user wait for it. More than the first batch, even if the machine stands still.
  expect(report.applied).toBeGreaterThan(100);
  expect(report).toMatchObject({ ignored: 0, failed: 0, gaveUp: 0 });
  await test.rows(`delete from "user" where id like 'late_%'`);
});
