import { createHmac } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { RunningServer } from "../../src/server.ts";
import { fixtureDelivery, loadFixture, signedDelivery } from "../fixtures/fixture.ts";
import { freshDatabase, type TestDatabase } from "../support/database.ts";
import { numberedEvent } from "../support/events.ts";
import { deliverWebhook } from "../support/http.ts";
import { startTestServer } from "../support/server.ts";
import { SECRETS } from "../support/variables.ts";

let test: TestDatabase;
let server: RunningServer;
beforeAll(async () => {
  test = await freshDatabase();
  server = await startTestServer(test.url);
});
afterAll(async () => {
  await server.close();
  await test.drop();
});

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
  const answers = await Promise.all(group.map((one) => deliverWebhook(server.url, "provider-a", one)));
  const statuses = answers.map((answer) => answer.status);
  const expected = group.map((_, n) =>
    n === 10 || n === 11 || n === 26 ? 500 : n === 22 || n === 23 ? 400 : 200,
  );
  expect(statuses).toEqual(expected);
  expect([answers[24]?.body.duplicate, answers[25]?.body.duplicate].filter(Boolean)).toHaveLength(1);
  expect(
    await test.rows("select from subscription where provider_subscription_id like 'healthy-%'"),
  ).toHaveLength(30);
  expect(await test.rows("select from subscription where provider_subscription_id like 'poison-%'")).toEqual(
    [],
  );
  const failures = await test.rows<{ event_id: string; last_error: string }>(
    "select event_id, last_error from webhook_delivery where status = 'failed' order by event_id",
  );
  expect(failures).toMatchObject([
    { event_id: "poison-1", last_error: 'plan: there is no plan "gold"' },
    { event_id: "poison-2", last_error: 'user: there is no user "nobody"' },
    { event_id: "poison-4", last_error: expect.stringMatching(/^database: .*no_thirteen.* \(23514\)$/) },
  ]);
});

it("a locked subscription delays only its own events", async () => {
  await deliverWebhook(server.url, "provider-a", numberedEvent("locked", 0));
  const release = await holdLock("locked-0");
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
  // Neither applied nor lost: failed with its reason, to be retried.
  expect((await stuck).status).toBe(500);
  await release();
  const [row] = await test.rows(
    "select status, last_error from webhook_delivery where event_id = 'locked-update'",
  );
  expect(row).toMatchObject({ status: "failed", last_error: expect.stringContaining("55P03") });
});

function overlong() {
  const { body } = loadFixture("stripe", "customer.subscription.created", { eventId: "e".repeat(256) });
  return signedDelivery("stripe", body, signing());
}

async function holdLock(name: string): Promise<() => Promise<void>> {
  const connection = await test.database.connection();
  await connection.script("begin");
  await connection.run(
    { name: "hold", text: "select from subscription where provider_subscription_id = $1 for update" },
    [name],
  );
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
