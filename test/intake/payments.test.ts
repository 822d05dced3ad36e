import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { RunningServer } from "../../src/server.ts";
import { fixtureDelivery, signedDelivery } from "../fixtures/fixture.ts";
import {
  hasWord,
  PAYMENT_FORMATS,
  type PaymentFacts,
  type PaymentFormat,
  type PaymentWord,
  paymentEvents,
  paymentIdOf,
} from "../fixtures/payments.ts";
import { deliverWebhook } from "../support/http.ts";
import { startTestServer } from "../support/server.ts";
import { testDatabase } from "../support/test-database.ts";
import { SECRETS } from "../support/variables.ts";

const SLOT = "provider-a";
const SUBSCRIPTION = "4711";

const test = testDatabase();
const servers = new Map<PaymentFormat, RunningServer>();
beforeAll(async () => {
  for (const format of PAYMENT_FORMATS) {
    servers.set(format, await startTestServer(test.url, { PROVIDER_A_ADAPTER: format }));
  }
});
afterAll(() => Promise.all([...servers.values()].map((server) => server.close())));
beforeEach(async () => {
  for (const table of ["payment", "payment_name", "payment_reversal", "subscription", "notification"]) {
    await test.rows(`delete from ${table}`);
  }
});

let delivered = 0;

async function send(format: PaymentFormat, body: object, eventType: string) {
  const signing = { secret: SECRETS[SLOT], nowSeconds: Math.floor(Date.now() / 1000) };
  delivered += 1;
  const delivery = signedDelivery(format, unique(format, body), { ...signing, eventId: `msg_${delivered}` });
  const url = servers.get(format)?.url as string;
  const response = await deliverWebhook(url, SLOT, delivery);
  expect({ eventType, status: response.status, body: JSON.parse(response.text) }).toEqual({
    eventType,
    status: 200,
    body: { received: true },
  });
}

/** The same events are sent several times: each delivery has an id of its own. */
function unique(format: PaymentFormat, body: object): object {
  const copy = structuredClone(body) as Record<string, Record<string, unknown> | string>;
  if (format === "stripe") copy.id = `evt_${delivered}`;
  if (format === "paddle") copy.event_id = `evt_${delivered}`;
  if (format === "lemon-squeezy") (copy.meta as Record<string, unknown>).webhook_id = `hook_${delivered}`;
  return copy;
}

const minute = (n: number) => new Date(Date.UTC(2026, 0, 1, 0, n));

function story(format: PaymentFormat, words: readonly PaymentWord[], facts: Partial<PaymentFacts> = {}) {
  const overrides = { key: "one", subscriptionId: SUBSCRIPTION, ...facts };
  return words.flatMap((word, n) => paymentEvents(format, word, overrides, minute(n)));
}

async function play(format: PaymentFormat, events: ReturnType<typeof story>) {
  for (const { body, eventType } of events) await send(format, body, eventType);
}

async function subscribe(format: PaymentFormat, userId = "user_1") {
  const created = fixtureDelivery(format, "customer.subscription.created", {
    secret: SECRETS[SLOT],
    nowSeconds: Math.floor(Date.now() / 1000),
    eventId: `created_${++delivered}`,
    userId,
    planId: "pro",
    subscriptionId: SUBSCRIPTION,
    status: "active",
  });
  const response = await deliverWebhook(servers.get(format)?.url as string, SLOT, created);
  expect(response.status).toBe(200);
}

const payments = () =>
  test.rows<{ provider_payment_id: string; status: string; amount: string; currency: string }>(
    "select provider_payment_id, status, amount::text, currency from payment order by provider_payment_id",
  );
const statuses = async () => (await payments()).map(({ status }) => status);

describe.each(PAYMENT_FORMATS)("payments of %s", (format) => {
  it("are recorded with amount, currency, period, receipt and time, without a known subscription", async () => {
    await play(format, story(format, ["paid"], { amount: 123_456_789, currency: "JPY" }));
    expect(await payments()).toEqual([
      {
        provider_payment_id: paymentIdOf(format, "one"),
        status: "paid",
        amount: "123456789",
        currency: "JPY",
      },
    ]);
  });

  const endings: [PaymentWord[], string][] = [
    [["failed"], "failed"],
    [["failed", "paid"], "paid"],
    [["paid", "partly_refunded"], "partly_refunded"],
    [["paid", "refunded"], "refunded"],
    [["failed", "paid", "partly_refunded", "refunded"], "refunded"],
    [["paid", "refunded", "refund_failed"], "paid"],
    [["paid", "disputed"], "disputed"],
    [["paid", "disputed", "dispute_won"], "paid"],
  ];
  it.each(endings.filter(([words]) => words.every((word) => hasWord(format, word))))(
    "reach the same status after %j in any order",
    async (words, status) => {
      const events = story(format, words);
      const orders = permutations(events);
      for (const [at, order] of orders.slice(0, 40).entries()) {
        await test.rows("delete from payment");
        await test.rows("delete from payment_name");
        await test.rows("delete from payment_reversal");
        await play(format, order);
        expect({ at, statuses: await statuses() }).toEqual({ at, statuses: [status] });
      }
    },
  );

  it.runIf(hasWord(format, "failed"))(
    "have the time of the first failed attempt, also when its event arrives last",
    async () => {
      const times: unknown[] = [];
      const attempts = story(format, ["failed", "failed"]);
      for (const order of [attempts, attempts.toReversed()]) {
        await test.rows("delete from payment");
        await play(format, order);
        times.push(await test.rows("select occurred_at from payment"));
      }
      expect(times[1]).toEqual(times[0]);
    },
  );

  it("are counted once when events are repeated or delivered at once", async () => {
    const events = story(format, ["paid", "partly_refunded"]);
    await play(format, events);
    await Promise.all([...events, ...events].map(({ body, eventType }) => send(format, body, eventType)));
    expect(await statuses()).toEqual(["partly_refunded"]);
  });

  it("notify administrators once of a full refund, and nobody of a partial one", async () => {
    await test.rows(
      `update "user" set role = 'admin', banned = id = 'user_8' where id in ('user_8', 'user_9')`,
    );
    const part = story(format, ["paid", "partly_refunded"]);
    await play(format, part);
    expect(await test.rows("select 1 from notification")).toEqual([]);
    const refunds = story(format, ["paid", "partly_refunded", "refunded"]).slice(part.length);
    await play(format, [...refunds, ...refunds]);
    expect(await test.rows("select user_id, kind from notification")).toEqual([
      { user_id: "user_9", kind: "payment_refunded" },
    ]);
    await test.rows(`update "user" set role = 'user' where id = 'user_9'`);
  });

  it("belong to the subscription's person as soon as it is known", async () => {
    await play(format, story(format, ["paid"]));
    await subscribe(format);
    const owned = await test.rows<{ user_id: string }>(
      `select s.user_id from payment p join subscription s
         on s.provider = p.provider and s.provider_subscription_id = p.provider_subscription_id`,
    );
    expect(owned).toEqual([{ user_id: "user_1" }]);
  });
});

function permutations<Item>(items: readonly Item[]): Item[][] {
  if (items.length <= 1) return [[...items]];
  return items.flatMap((item, at) =>
    permutations([...items.slice(0, at), ...items.slice(at + 1)]).map((rest) => [item, ...rest]),
  );
}
