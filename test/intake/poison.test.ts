import { createHmac } from "node:crypto";
import { expect, it } from "vitest";
import { fixtureDelivery, loadFixture, signedDelivery } from "../fixtures/fixture.ts";
import { numberedEvent } from "../fixtures/numbered-event.ts";
import { eventually } from "../support/eventually.ts";
import { freshServer } from "../support/fresh-server.ts";
import { deliverWebhook } from "../support/http.ts";
import { expectEachAppliedOnce } from "../support/ledger.ts";
import { SECRETS } from "../support/variables.ts";

const { test, server } = freshServer({ users: 20 });

const signing = () => ({ secret: SECRETS["provider-a"], nowSeconds: Math.floor(Date.now() / 1000) });

it("applies every other event of a group that contains poisoned ones", async () => {
  // A violation that only the database finds, at the write: it rolls back the whole group.
  await test.rows(
    "alter table subscription add constraint no_thirteen check (seats <> 13 or provider_subscription_id not like 'poison-%')",
  );
  const poison = (n: number, overrides: object) =>
    fixtureDelivery("stripe", "customer.subscription.created", {
      ...signing(),
      eventId: `poison-${n}`,
      subscriptionId: `poison-${n}`,
      userId: "user_1",
      planId: "team",
      ...overrides,
    });
  const deep = Buffer.from(`{"id":"deep","type":"x","data":${"[".repeat(20_000)}${"]".repeat(20_000)}}`);
  const good = Array.from({ length: 30 }, (_, n) => numberedEvent("healthy", n));
  const twin = numberedEvent("twin", 1);
  const group = [
    ...good.slice(0, 10),
    poison(1, { planId: "gold", priceId: "price_unknown" }),
    poison(2, { userId: "nobody" }),
    ...good.slice(10, 20),
    overlong(),
    { rawBody: deep, headers: signed(deep) },
    twin,
    twin,
    poison(4, { seats: 13 }),
    ...good.slice(20),
  ];
  const responses = await Promise.all(
    group.map((delivery) => deliverWebhook(server.url, "provider-a", delivery)),
  );
  const statuses = responses.map((answer) => answer.status);
  const expected = group.map((_, n) =>
    n === 10 || n === 11 || n === 26 ? 500 : n === 22 || n === 23 ? 400 : 200,
  );
  expect(statuses).toEqual(expected);
  expect([responses[24]?.body.duplicate, responses[25]?.body.duplicate].filter(Boolean)).toHaveLength(1);
  expect(
    await test.rows("select from subscription where provider_subscription_id like 'healthy-%'"),
  ).toHaveLength(30);
  expect(await test.rows("select from subscription where provider_subscription_id like 'poison-%'")).toEqual(
    [],
  );
  const failures = await test.rows<{ event_id: string; last_error: string; last_reason: string }>(
    "select event_id, last_error, last_reason from webhook_delivery where status = 'failed' order by event_id",
  );
  expect(failures).toMatchObject([
    { event_id: "poison-1", last_error: 'plan: there is no plan "gold"', last_reason: "plan_unknown" },
    { event_id: "poison-2", last_error: 'user: there is no user "nobody"', last_reason: "user_not_found" },
    {
      event_id: "poison-4",
      last_error: "database: the change was refused, see the log",
      last_reason: "database_refused",
    },
  ]);
});

it("delays only its own events while a subscription is locked", async () => {
  await deliverWebhook(server.url, "provider-a", numberedEvent("locked", 0));
  const release = await holdLock(
    "select from subscription where provider_subscription_id = 'locked-0' for update",
  );
  const stuck = deliverWebhook(
    server.url,
    "provider-a",
    fixtureDelivery("stripe", "customer.subscription.updated", {
      ...signing(),
      eventId: "locked-update",
      subscriptionId: "locked-0",
      userId: "user_0",
      planId: "team",
      seats: 50,
    }),
  );
  const others = await Promise.all(
    Array.from({ length: 19 }, (_, n) =>
      deliverWebhook(server.url, "provider-a", numberedEvent("free", n + 1)),
    ),
  );
  expect(others.map((answer) => answer.status)).toEqual(Array(19).fill(200));
  // A slow database is no fault of the event's: no attempt is used up.
  expect((await stuck).status).toBe(503);
  expect(await attemptsOf("locked-update")).toEqual([]);
  await release();
  await eventually(() => attemptsOf("locked-update"), [{ outcome: "successful", source: "retry" }]);
});

it("fails no event and uses up no attempt while a table cannot be written in time", async () => {
  const release = await holdLock("lock table subscription in access exclusive mode");
  const responses = await Promise.all(
    Array.from({ length: 12 }, (_, n) => deliverWebhook(server.url, "provider-a", numberedEvent("slow", n))),
  );
  expect(new Set(responses.map((answer) => answer.status))).toEqual(new Set([503]));
  const failed = "select from webhook_delivery where event_id like 'slow-%' and status = 'failed'";
  expect(await test.rows(failed)).toEqual([]);
  await release();
  await Promise.all(
    Array.from({ length: 12 }, (_, n) =>
      eventually(
        async () => (await deliverWebhook(server.url, "provider-a", numberedEvent("slow", n))).status,
        200,
      ),
    ),
  );
  await expectEachAppliedOnce(test, "slow", 12);
  expect(
    await test.rows(
      `select from webhook_attempts a join webhook_delivery d on d.id = a.delivery_id
       where d.event_id like 'slow-%' and outcome = 'failed'`,
    ),
  ).toEqual([]);
});

function attemptsOf(eventId: string) {
  return test.rows(
    `select outcome, source from webhook_attempts a join webhook_delivery d on d.id = a.delivery_id where event_id = $1`,
    [eventId],
  );
}

function overlong() {
  const { body } = loadFixture("stripe", "customer.subscription.created", { eventId: "e".repeat(256) });
  return signedDelivery("stripe", body, signing());
}

async function holdLock(statement: string): Promise<() => Promise<void>> {
  const connection = await test.database.connection();
  await connection.script(`begin; ${statement}`);
  return async () => {
    await connection.script("rollback");
    connection.release({ healthy: true });
  };
}

function signed(rawBody: Buffer): Record<string, string> {
  const { secret, nowSeconds } = signing();
  const mac = createHmac("sha256", secret).update(`${nowSeconds}.`).update(rawBody).digest("hex");
  return { "stripe-signature": `t=${nowSeconds},v1=${mac}` };
}
