import { afterAll, beforeAll, expect, it } from "vitest";
import { fixtureDelivery } from "../fixtures/fixture.ts";
import { numberedEvent } from "../fixtures/numbered-event.ts";
import { type HttpResponse as Answer, deliverUntilAnswered } from "../support/http.ts";
import { expectEachAppliedOnce } from "../support/ledger.ts";
import { type ServerProcess, spawnServer } from "../support/server-process.ts";
import { testDatabase } from "../support/test-database.ts";
import { SECRETS } from "../support/variables.ts";

const test = testDatabase();
let servers: ServerProcess[];
beforeAll(async () => {
  servers = await Promise.all([1, 2, 3].map(() => spawnServer(test.url)));
});
afterAll(async () => {
  for (const server of servers) await server.end("SIGTERM");
});

it("applies 2,000 events sent to three servers once, and reports the others as duplicates", async () => {
  const events = 2_000;
  const deliveries = Array.from({ length: events }, (_, n) => numberedEvent("three", n));
  const responses = await Promise.all(
    servers.map((server) =>
      inParallel(deliveries, 48, (delivery) => deliverUntilAnswered(server.url, "provider-a", delivery)),
    ),
  );
  const all = responses.flat();
  expect(all.filter((answer) => answer.status !== 200)).toEqual([]);
  // At least: a delivery whose response got lost was sent again, and is a duplicate too.
  expect(all.filter((answer) => answer.body.duplicate === true).length).toBeGreaterThanOrEqual(2 * events);
  await expectEachAppliedOnce(test, "three", events);
});

it("applies each event once when two servers get the same subscriptions in opposite orders", async () => {
  const subscriptions = 40;
  const rounds = 25;
  const ends = await Promise.all(
    [0, 1].map(async (side) => {
      const server = servers[side] as ServerProcess;
      const answers: Answer[] = [];
      for (let round = 0; round < rounds; round += 1) {
        const order = Array.from({ length: subscriptions }, (_, n) => (side ? subscriptions - 1 - n : n));
        const group = order.map((n) => opposite(side, round, n));
        answers.push(
          ...(await Promise.all(
            group.map((delivery) => deliverUntilAnswered(server.url, "provider-a", delivery)),
          )),
        );
      }
      return answers;
    }),
  );
  expect(ends.flat().filter(({ status }) => status !== 200)).toEqual([]);
  const [counts] = await test.rows(
    `select count(distinct delivery_id)::int as deliveries,
       count(*) filter (where outcome = 'successful')::int as applied
     from webhook_attempts a join webhook_delivery d on d.id = a.delivery_id where d.event_id like 'opposite-%'`,
  );
  const events = 2 * rounds * subscriptions;
  // A busy machine may time an attempt out, which is made again.
  expect(counts).toEqual({ deliveries: events, applied: events });
  const rows = await test.rows("select from subscription where provider_subscription_id like 'opposite-%'");
  expect(rows).toHaveLength(subscriptions);
});

it("loses no field when two servers get a subscription's first events at once", async () => {
  for (let n = 0; n < 40; n += 1) {
    const id = `first-${n}`;
    const facts = {
      secret: SECRETS["provider-a"],
      nowSeconds: Math.floor(Date.now() / 1000),
      userId: "user_1",
      planId: "team",
      subscriptionId: id,
      customerId: id,
    };
    const checkout = fixtureDelivery("stripe", "checkout.session.completed", {
      ...facts,
      eventId: `${id}-a`,
    });
    const update = fixtureDelivery("stripe", "customer.subscription.updated", {
      ...facts,
      eventId: `${id}-b`,
      seats: 77,
      status: "past_due",
      cancelAtPeriodEnd: true,
    });
    const [a, b] = servers as [ServerProcess, ServerProcess];
    const responses = await Promise.all([
      deliverUntilAnswered(a.url, "provider-a", checkout),
      deliverUntilAnswered(b.url, "provider-a", update),
    ]);
    expect(responses.map((answer) => answer.status)).toEqual([200, 200]);
    const rows = await test.rows(
      "select user_id, plan_id, seats, cancel_at_period_end from subscription where provider_subscription_id = $1",
      [id],
    );
    expect(rows).toEqual([{ user_id: "user_1", plan_id: "team", seats: 77, cancel_at_period_end: true }]);
  }
});

it("creates one subscription when two servers get the checkout event, without its id, and the created event", async () => {
  const [a, b] = servers as [ServerProcess, ServerProcess];
  for (let n = 0; n < 40; n += 1) {
    await test.rows("delete from subscription where user_id = 'user_7'");
    const facts = {
      secret: SECRETS["provider-a"],
      nowSeconds: Math.floor(Date.now() / 1000),
      userId: "user_7",
      planId: "team",
      customerId: null,
    };
    const checkout = fixtureDelivery("stripe", "checkout.session.completed", {
      ...facts,
      eventId: `one-${n}-a`,
      subscriptionId: null,
    });
    const created = fixtureDelivery("stripe", "customer.subscription.created", {
      ...facts,
      eventId: `one-${n}-b`,
      subscriptionId: `one-${n}`,
      priceId: "price_team_monthly",
    });
    const [first, second] = n % 2 ? [checkout, created] : [created, checkout];
    const responses = await Promise.all([
      deliverUntilAnswered(a.url, "provider-a", first),
      deliverUntilAnswered(b.url, "provider-a", second),
    ]);
    expect(responses.map((answer) => answer.status)).toEqual([200, 200]);
    expect(
      await test.rows(
        "select provider_subscription_id as name, status from subscription where user_id = 'user_7'",
      ),
    ).toEqual([{ name: `one-${n}`, status: "active" }]);
  }
});

function opposite(side: number, round: number, n: number) {
  return fixtureDelivery("stripe", "customer.subscription.updated", {
    secret: SECRETS["provider-a"],
    nowSeconds: Math.floor(Date.now() / 1000),
    eventId: `opposite-${side}-${round}-${n}`,
    subscriptionId: `opposite-${n}`,
    userId: `user_${n % 20}`,
    planId: "team",
    seats: 5 + round,
  });
}

/** All items, at most `width` under way at once. */
async function inParallel<Item, Result>(
  items: readonly Item[],
  width: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const queue = items.entries();
  const lane = async () => {
    for (const [index, item] of queue) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: width }, lane));
  return results;
}
