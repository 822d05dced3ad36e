import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { OPERATOR } from "../../src/domain/callers/caller.ts";
import { listOutOfOrder } from "../../src/operations/subscriptions/list-out-of-order.ts";
import { showHistory } from "../../src/operations/subscriptions/show-history.ts";
import { deleteAccount } from "../../src/operations/users/delete-account.ts";
import { listDeliveries } from "../../src/operations/webhooks/list-deliveries.ts";
import { showDelivery } from "../../src/operations/webhooks/show-delivery.ts";
import { fixtureDelivery } from "../fixtures/fixture.ts";
import type { FixtureOverrides } from "../fixtures/overrides.ts";
import { freshServer } from "../support/fresh-server.ts";
import { deliverWebhook } from "../support/http.ts";
import { SECRETS } from "../support/variables.ts";
import { apiKey, createTestContext, refusalOf, session } from "./test-context.ts";

const ADMIN = session("user_0", "admin");

const { test, server } = freshServer({ users: 20 });
const context = createTestContext(test, { cancelSubscription: async () => {} });

let events = 0;

/** @param n whose subscription the event is about: `user_n`'s */
async function send(n: number, kind: string, overrides: FixtureOverrides, status = 200): Promise<void> {
  events += 1;
  const delivery = fixtureDelivery("stripe", kind, {
    secret: SECRETS["provider-a"],
    nowSeconds: Math.floor(Date.now() / 1000),
    eventId: `evt_${events}`,
    subscriptionId: `sub_${n}`,
    customerId: `cus_${n}`,
    userId: `user_${n}`,
    planId: "pro",
    priceId: "price_pro_monthly",
    occurredAt: new Date(Date.UTC(2026, 0, 1) + events * 60_000),
    currentPeriodEnd: new Date("2031-02-03T04:05:06Z"),
    cancelAtPeriodEnd: false,
    ...overrides,
  });
  expect((await deliverWebhook(server.url, "provider-a", delivery)).status).toBe(status);
}

async function subscriptionOf(n: number): Promise<string> {
  const [row] = await test.rows<{ id: string }>(
    "select id from subscription where provider_subscription_id = $1",
    [`sub_${n}`],
  );
  return row?.id as string;
}

const CREATED = "customer.subscription.created";
const UPDATED = "customer.subscription.updated";

describe("the history of a subscription", () => {
  let id: string;
  beforeAll(async () => {
    await send(1, CREATED, { status: "trialing", seats: 1 });
    await send(2, CREATED, { status: "active", seats: 1 });
    await send(1, UPDATED, { status: "trialing", seats: 1 });
    await send(1, UPDATED, { status: "active", seats: 3 });
    id = await subscriptionOf(1);
    await test.rows(
      `insert into reconciliation (subscription_id, by, changes) values ($1, 'operator', '{"seats": [3, 4]}')`,
      [id],
    );
    await test.rows("update subscription set seats = 4 where id = $1", [id]);
    await send(1, "customer.subscription.deleted", { seats: 4 });
  });

  it("lists what events and comparisons changed, newest first", async () => {
    const { items, nextCursor } = await context.call(showHistory, session("user_1"), { id });
    const event = {
      source: "event",
      id: expect.stringMatching(/^event-/),
      deliveryId: null,
      at: expect.any(Date),
    };
    expect(nextCursor).toBeNull();
    expect(items).toEqual([
      {
        ...event,
        kind: "ended",
        eventType: "customer.subscription.deleted",
        changes: { status: ["active", "canceled"] },
      },
      {
        ...event,
        id: expect.stringMatching(/^reconcile-/),
        source: "reconcile",
        kind: "changed",
        eventType: null,
        changes: { seats: [3, 4] },
      },
      {
        ...event,
        kind: "changed",
        eventType: UPDATED,
        changes: { status: ["trialing", "active"], seats: [1, 3] },
      },
      {
        ...event,
        kind: "created",
        eventType: CREATED,
        changes: {
          planId: [null, "pro"],
          seats: [null, 1],
          status: [null, "trialing"],
          currentPeriodEnd: [null, "2031-02-03T04:05:06.000Z"],
          providerSubscriptionId: [null, "sub_1"],
        },
      },
    ]);
  });

  it("shows the seats of a purchase as the first ones, though its first event names none", async () => {
    await send(3, "checkout.session.completed", {});
    await send(3, CREATED, { status: "active", seats: 3 });
    const { items } = await context.call(showHistory, session("user_3"), { id: await subscriptionOf(3) });
    expect(items.map(({ changes }: { changes: { seats?: unknown } }) => changes.seats)).toEqual([
      [null, 3],
      undefined,
    ]);
  });

  it("is shown to its owner, and with its deliveries to the operator", async () => {
    const ownHistory = await context.call(showHistory, apiKey("user_1"), { id });
    const all = await context.call(showHistory, OPERATOR, { id });
    const deliveries = await test.rows<{ id: string }>(
      "select delivery_id::text as id from webhook_attempts where subscription_id = $1 order by changed_at desc",
      [id],
    );
    const [ended, started, created] = deliveries.map((row) => row.id);
    expect(all.items.map((item: { deliveryId: string }) => item.deliveryId)).toEqual([
      ended,
      null,
      started,
      created,
    ]);
    expect(all.items.map((item: object) => ({ ...item, deliveryId: null }))).toEqual(ownHistory.items);
  });

  it("returns 404 to other users and administrators, as for an unknown one", async () => {
    const nowhere = await refusalOf(context.call(showHistory, session("user_1"), { id: randomUUID() }));
    expect(nowhere).toEqual({ code: "not_found", message: "No such subscription" });
    for (const caller of [session("user_2"), apiKey("user_2"), apiKey("user_0", "admin"), ADMIN]) {
      expect(await refusalOf(context.call(showHistory, caller, { id }))).toEqual(nowhere);
    }
    expect(await refusalOf(context.call(showHistory, ADMIN, { id: randomUUID() }))).toEqual(nowhere);
  });

  it("links to the delivery, and the delivery to the subscription", async () => {
    const { items } = await context.call(listDeliveries, ADMIN, { subscriptionId: id });
    const { items: history } = await context.call(showHistory, OPERATOR, { id });
    const deliveryIds = history.flatMap((entry: { deliveryId: string | null }) => entry.deliveryId ?? []);
    expect(items.map((item: { id: string }) => item.id)).toEqual(deliveryIds);
    const { attemptLog } = await context.call(showDelivery, ADMIN, { id: deliveryIds[1] });
    expect(attemptLog).toMatchObject([
      { subscriptionId: id, changes: { status: ["trialing", "active"], seats: [1, 3] } },
    ]);
    const [, unchanged] = await test.rows<{ id: string }>(
      "select delivery_id::text as id from webhook_attempts where subscription_id is null order by 1",
    );
    expect(unchanged).toBeUndefined();
  });

  it("stays without a name, visible only to operators, after its user is deleted", async () => {
    const before = await context.call(showHistory, OPERATOR, { id });
    await context.call(deleteAccount, session("user_1"), { confirmation: "user_1@example.com" });
    const after = await context.call(showHistory, OPERATOR, { id });
    expect(after).toEqual(before);
    expect(JSON.stringify(after)).not.toMatch(/user_1|cus_1/);
    expect(await refusalOf(context.call(showHistory, session("user_1"), { id }))).toMatchObject({
      code: "not_found",
    });
  });
});

describe("listing deliveries", () => {
  beforeAll(async () => {
    await send(4, CREATED, { status: "active", seats: 1, eventId: "evt_wanted" });
    await send(4, UPDATED, { status: "active", seats: 2 });
    await send(4, UPDATED, { status: "active", seats: 3, planId: "gold", priceId: "gold" }, 500);
    await send(5, CREATED, { status: "active", seats: 1, eventId: "evt_wanted_too" });
    await test.rows(
      `insert into webhook_delivery (provider, event_id, event_type, format, status, claim_source)
       values ('provider-b', 'evt_wanted', 'x', 'stripe', 'successful', 'delivery')`,
    );
  });

  const eventTypesOf = async (input: object) =>
    (await context.call(listDeliveries, ADMIN, input)).items.map(
      (item: { provider: string; eventType: string }) => `${item.provider} ${item.eventType}`,
    );

  it("finds them by exact event id, in every slot or in one", async () => {
    const eventId = "evt_wanted";
    expect(await eventTypesOf({ eventId })).toEqual(["provider-b x", `provider-a ${CREATED}`]);
    expect(await eventTypesOf({ eventId, provider: "provider-a" })).toEqual([`provider-a ${CREATED}`]);
    expect(await eventTypesOf({ eventId, type: "x" })).toEqual(["provider-b x"]);
    expect(await eventTypesOf({ eventId, status: "failed" })).toEqual([]);
    expect(await eventTypesOf({ eventId: "evt_want" })).toEqual([]);
    expect(await eventTypesOf({ eventId, subscriptionId: await subscriptionOf(4) })).toEqual([
      `provider-a ${CREATED}`,
    ]);
    expect(await eventTypesOf({ eventId, subscriptionId: await subscriptionOf(5) })).toEqual([]);
  });

  it("finds them by event id and the subscription that a later attempt changed", async () => {
    const eventId = "evt_retried";
    await send(7, CREATED, { status: "active", seats: 1, eventId });
    const subscriptionId = await subscriptionOf(7);
    await test.rows(
      `with retried as (
         update webhook_delivery set first_subscription_id = null, first_changes = null, first_changed_at = null
         where event_id = $1 returning id
       )
       insert into webhook_attempt
         (delivery_id, claim_no, source, outcome, started_at, duration_ms, subscription_id, changes, changed_at)
       select id, 2, 'retry', 'successful', now(), 1, $2::uuid, '{}', now() from retried`,
      [eventId, subscriptionId],
    );
    expect(await eventTypesOf({ eventId, subscriptionId })).toEqual([`provider-a ${CREATED}`]);
    expect(await eventTypesOf({ eventId, subscriptionId: await subscriptionOf(4) })).toEqual([]);
    expect(await eventTypesOf({ eventId: "evt_wanted", subscriptionId })).toEqual([]);
  });

  it("finds them by the subscription that they changed, in pages", async () => {
    const subscriptionId = await subscriptionOf(4);
    expect(await eventTypesOf({ subscriptionId })).toEqual([
      `provider-a ${UPDATED}`,
      `provider-a ${CREATED}`,
    ]);
    expect(await eventTypesOf({ subscriptionId, type: CREATED })).toEqual([`provider-a ${CREATED}`]);
    expect(await eventTypesOf({ subscriptionId, provider: "provider-b" })).toEqual([]);
    expect(await eventTypesOf({ subscriptionId, status: "failed" })).toEqual([]);
    expect(await eventTypesOf({ subscriptionId, status: "successful", limit: 1 })).toEqual([
      `provider-a ${UPDATED}`,
    ]);
    const first = await context.call(listDeliveries, ADMIN, { subscriptionId, limit: 1 });
    const second = await context.call(listDeliveries, ADMIN, {
      subscriptionId,
      limit: 1,
      cursor: first.nextCursor,
    });
    expect([...first.items, ...second.items].map((item) => item.eventType)).toEqual([UPDATED, CREATED]);
    expect(second.nextCursor).toBeNull();
  });

  it("finds what changed a subscription millions of deliveries ago, as its history does", async () => {
    await send(6, CREATED, { status: "active", seats: 1 });
    await test.rows("alter table webhook_delivery alter column id restart with 3000000");
    await send(6, UPDATED, { status: "active", seats: 2 });
    const id = await subscriptionOf(6);
    expect(await eventTypesOf({ subscriptionId: id })).toEqual([
      `provider-a ${UPDATED}`,
      `provider-a ${CREATED}`,
    ]);
    const { items } = await context.call(showHistory, OPERATOR, { id });
    expect(items.map((entry: { eventType: string }) => entry.eventType)).toEqual([UPDATED, CREATED]);
  });
});

describe("subscriptions that are out of order", () => {
  it("are listed with their users, last changed first, once each for any page size", async () => {
    await test.rows(
      `insert into subscription (id, user_id, provider, provider_subscription_id, plan_id, seats, status,
         cancel_at_period_end, out_of_order, updated_at)
       select gen_random_uuid(), case when n % 4 > 0 then 'user_' || n end, 'provider-c', n, 'pro', 1, 'active', false,
         n % 3 > 0, timestamptz '2026-01-01' + n * n % 5 * interval '1.5 microseconds'
       from generate_series(2, 19) n`,
    );
    const marked = await test.rows<{ id: string; user_id: string | null }>(
      "select id, user_id from subscription where out_of_order order by updated_at desc, id desc",
    );
    for (const limit of [1, 5, marked.length, 100]) {
      const items = [];
      let cursor: string | null = null;
      do {
        const page: { items: object[]; nextCursor: string | null } = await context.call(
          listOutOfOrder,
          ADMIN,
          {
            limit,
            cursor,
          },
        );
        items.push(...page.items);
        cursor = page.nextCursor;
      } while (cursor !== null);
      expect(items).toMatchObject(
        marked.map(({ id, user_id: userId }) => ({
          id,
          userId,
          outOfOrder: true,
          user: userId && { name: `User ${userId.slice(5)}`, email: `${userId}@example.com` },
        })),
      );
    }
  });
});
