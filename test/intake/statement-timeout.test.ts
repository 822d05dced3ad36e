import { beforeEach, describe, expect, it } from "vitest";
import { retryDue } from "../../src/intake/claims/retry.ts";
import { createRecentKeys } from "../../src/intake/queue/recent-keys.ts";
import { fixtureDelivery } from "../fixtures/fixture.ts";
import { freshRuntime } from "../support/fresh-runtime.ts";
import { SECRETS } from "../support/variables.ts";

const { test, runtime } = freshRuntime({ users: 20, variables: { PROVIDER_C_ADAPTER: "lemon-squeezy" } });

const SLOTS = { stripe: "provider-a", "lemon-squeezy": "provider-c" } as const;

beforeEach(async () => {
  // The tests use the same event ids: none may count as seen.
  runtime.intake.recent = createRecentKeys(10);
  await test.rows("truncate webhook_delivery, webhook_attempt, subscription cascade");
  await test.rows(
    `create or replace function time_out() returns trigger language plpgsql as $$
     begin raise exception 'canceling statement due to statement timeout' using errcode = '57014'; end $$`,
  );
  await test.rows(
    `create or replace trigger time_out before insert on subscription for each row
     when (new.provider_subscription_id = 'sub-0' and new.seats = 5) execute function time_out()`,
  );
});

const writeInTime = () => test.rows("drop trigger time_out on subscription");

async function receive(
  format: keyof typeof SLOTS,
  event: { eventId: string; subscriptionId: string; userId: string; seats?: number },
): Promise<string> {
  const { rawBody, headers } = fixtureDelivery(format, "customer.subscription.created", {
    secret: SECRETS[SLOTS[format]],
    nowSeconds: Math.floor(Date.now() / 1000),
    customerId: event.subscriptionId,
    planId: "team",
    seats: 5,
    ...event,
  });
  const { outcome } = await runtime.intake.receive(SLOTS[format], {
    rawBody,
    header: (name) => headers[name],
  });
  return outcome;
}

/** One event of each of `count` subscriptions, which arrive together. */
async function receiveTogether(format: keyof typeof SLOTS, count: number): Promise<string[]> {
  const outcomes = await Promise.all(
    Array.from({ length: count }, (_, n) =>
      receive(format, { eventId: `evt-${n}`, subscriptionId: `sub-${n}`, userId: `user_${n}` }),
    ),
  );
  await runtime.intake.idle();
  return outcomes;
}

describe.each([1, 3])("a statement time-out in a group of %i", (count) => {
  const each = <Value>(value: Value): Value[] => Array.from({ length: count }, () => value);

  it("leaves its first deliveries unavailable, and stores none", async () => {
    expect(await receiveTogether("stripe", count)).toEqual(each("unavailable"));
    expect(await test.rows("select from webhook_delivery")).toEqual([]);
    expect(await test.rows("select from subscription")).toEqual([]);
    await writeInTime();
    expect(await receiveTogether("stripe", count)).toEqual(each("applied"));
    expect(await test.rows("select claim_no, outcome from webhook_attempts")).toEqual(
      each({ claim_no: 1, outcome: "successful" }),
    );
  });

  it("releases its claimed events, and uses up no attempt", async () => {
    expect(await receiveTogether("lemon-squeezy", count)).toEqual(each("unavailable"));
    expect(
      await test.rows("select status, claim_no, released_claims, last_reason from webhook_delivery"),
    ).toEqual(each({ status: "pending", claim_no: 1, released_claims: 1, last_reason: null }));
    expect(await test.rows("select from subscription")).toEqual([]);
    await writeInTime();
    await test.rows("update webhook_delivery set lease_until = clock_timestamp() - interval '1 second'");
    expect(await retryDue(runtime.intake)).toMatchObject({ applied: count, failed: 0 });
    expect(await test.rows("select claim_no, outcome from webhook_attempts")).toEqual(
      each({ claim_no: 2, outcome: "successful" }),
    );
  });
});

describe.each([
  ["a deadlock", "40P01"],
  ["a serialization failure", "40001"],
])("%s that happens again and again", (_, errcode) => {
  beforeEach(() =>
    test.rows(
      `create or replace function time_out() returns trigger language plpgsql as $$
       begin raise exception 'again' using errcode = '${errcode}'; end $$`,
    ),
  );

  it.each([
    { format: "stripe", count: 1 },
    { format: "stripe", count: 3 },
    { format: "lemon-squeezy", count: 1 },
    { format: "lemon-squeezy", count: 3 },
  ] as const)(
    "leaves its event unavailable, and uses up no attempt: $count of $format",
    async ({ format, count }) => {
      const others = Array.from({ length: count - 1 }, () => "applied");
      expect(await receiveTogether(format, count)).toEqual(["unavailable", ...others]);
      const released = () =>
        test.rows("select status, claim_no, last_reason from webhook_delivery where released_claims = 1");
      expect(await released()).toEqual([{ status: "pending", claim_no: 1, last_reason: null }]);
      await writeInTime();
      await test.rows(
        "update webhook_delivery set lease_until = clock_timestamp() - interval '1 second' where status = 'pending'",
      );
      expect(await retryDue(runtime.intake)).toMatchObject({ applied: 1, failed: 0 });
      expect(await released()).toEqual([{ status: "successful", claim_no: 2, last_reason: null }]);
      expect(await test.rows("select from webhook_attempts where outcome = 'failed'")).toEqual([]);
    },
  );
});

it("releases claimed events that a full disk refuses, and uses up no attempt", async () => {
  await test.rows(
    `create or replace function time_out() returns trigger language plpgsql as $$
     begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$`,
  );
  expect(await receiveTogether("lemon-squeezy", 1)).toEqual(["unavailable"]);
  for (let attempt = 1; attempt <= 12; attempt += 1) {
    await test.rows("update webhook_delivery set lease_until = clock_timestamp() - interval '1 second'");
    expect(await retryDue(runtime.intake)).toMatchObject({ failed: 0, gaveUp: 0 });
  }
  await writeInTime();
  await test.rows("update webhook_delivery set lease_until = clock_timestamp() - interval '1 second'");
  expect(await retryDue(runtime.intake)).toMatchObject({ applied: 1 });
  expect(await test.rows("select outcome from webhook_attempts")).toEqual([{ outcome: "successful" }]);
});

it("leaves later events of its subscription unavailable as well when a group is written singly", async () => {
  await test.rows(
    `create or replace function refuse() returns trigger language plpgsql as $$
     begin raise exception 'refused' using errcode = '22000'; end $$`,
  );
  await test.rows(
    `create or replace trigger refuse before insert on subscription for each row
     when (new.provider_subscription_id = 'refused') execute function refuse()`,
  );
  const outcomes = await Promise.all([
    receive("stripe", { eventId: "refused", subscriptionId: "refused", userId: "user_1" }),
    receive("stripe", { eventId: "too slow", subscriptionId: "sub-0", userId: "user_2" }),
    receive("stripe", { eventId: "behind it", subscriptionId: "sub-0", userId: "user_2", seats: 6 }),
    receive("stripe", { eventId: "other", subscriptionId: "sub-1", userId: "user_3" }),
  ]);
  expect(outcomes).toEqual(["failed", "unavailable", "unavailable", "applied"]);
  expect(await test.rows("select event_id from webhook_delivery order by 1")).toEqual([
    { event_id: "other" },
    { event_id: "refused" },
  ]);
});
