import { fixtureDelivery } from "../fixtures/fixture.ts";
import type { TestDatabase } from "../support/database.ts";
import { deliverUntilAnswered } from "../support/http.ts";
import { createAdmin, createKey, createUser, type TestUser } from "../support/people.ts";
import { SECRETS } from "../support/variables.ts";

/** Everybody who may call, and something of everything that belongs to the owner. */
export type TestData = {
  owner: TestUser;
  other: TestUser;
  admin: TestUser;
  key: { id: string; key: string };
  /** Another key of the owner's, to be revoked. */
  spareKey: { id: string; key: string };
  adminKey: { id: string; key: string };
  subscriptionId: string;
  notificationId: string;
  /** Ids of deliveries. */
  applied: string;
  failed: string;
};

let casts = 0;

export async function createTestData(serverUrl: string, test: Pick<TestDatabase, "rows">): Promise<TestData> {
  casts += 1;
  const run = `cast-${casts}`;
  const [owner, other, admin] = [
    await createUser(test, "Owner"),
    await createUser(test, "Other"),
    await createAdmin(test),
  ];
  await subscribed(serverUrl, run, owner.id);
  // The user is unknown, so that the event cannot be applied.
  await subscribed(serverUrl, `${run}-failed`, "nobody_at_all");
  // Must not be retried while a test reads it.
  await test.rows(
    "update webhook_delivery set next_attempt_at = now() + interval '1 hour' where event_id = $1",
    [`${run}-failed`],
  );
  const [subscription] = await test.rows<{ id: string }>("select id from subscription where user_id = $1", [
    owner.id,
  ]);
  const deliveries = await test.rows<{ id: string }>(
    "select id::text from webhook_delivery where event_id in ($1, $2) order by id",
    [run, `${run}-failed`],
  );
  return {
    owner,
    other,
    admin,
    key: await createKey(serverUrl, owner),
    spareKey: await createKey(serverUrl, owner),
    adminKey: await createKey(serverUrl, admin),
    subscriptionId: subscription?.id as string,
    notificationId: await notified(test, owner.id),
    applied: deliveries[0]?.id as string,
    failed: deliveries[1]?.id as string,
  };
}

export async function subscribed(serverUrl: string, run: string, userId: string): Promise<void> {
  await deliverUntilAnswered(serverUrl, "provider-a", createdEvent(run, userId));
}

/** As the provider would tell of it; the event and the subscription go by the name of the run. */
export function createdEvent(run: string, userId: string) {
  return fixtureDelivery("stripe", "customer.subscription.created", {
    secret: SECRETS["provider-a"],
    nowSeconds: Math.floor(Date.now() / 1000),
    eventId: run,
    subscriptionId: `sub_${run}`,
    customerId: `cus_${run}`,
    userId,
    planId: "team",
    priceId: "price_team_monthly",
    seats: 7,
    status: "active",
    currentPeriodEnd: new Date("2031-02-03T04:05:06Z"),
  });
}

/** @returns the notification's id */
export async function notified(test: Pick<TestDatabase, "rows">, userId: string): Promise<string> {
  const [row] = await test.rows<{ id: string }>(
    `insert into notification (user_id, kind, details)
     values ($1, 'subscription_activated', '{"planId": "team"}') returning id::text`,
    [userId],
  );
  return row?.id as string;
}
