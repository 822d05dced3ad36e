import { expect, it } from "vitest";
import { accessOf } from "../../src/domain/entitlements/access.ts";
import { subscriptionAccessOfUser } from "../../src/store/subscriptions/subscription-access.ts";
import { loadFixture, signedDelivery } from "../fixtures/fixture.ts";
import { freshRuntime } from "../support/fresh-runtime.ts";
import { SECRETS } from "../support/variables.ts";

const { test, runtime } = freshRuntime({ users: 3, variables: { PROVIDER_A_ADAPTER: "polar" } });

let count = 0;

async function receive(userId: string, eventType: string, fields: object): Promise<void> {
  count += 1;
  const fixture = eventType.startsWith("order.") ? "order.paid.renewal" : eventType;
  const { body } = loadFixture("polar", fixture, {
    userId,
    planId: "pro",
    subscriptionId: `sub_${userId}`,
    eventType,
    occurredAt: new Date(Date.UTC(2026, 2, 2, 0, count)),
  });
  Object.assign(body.data as object, fields);
  const { rawBody, headers } = signedDelivery("polar", body, {
    secret: SECRETS["provider-a"],
    nowSeconds: Math.floor(Date.now() / 1000),
    eventId: `msg_${count}`,
  });
  const result = await runtime.intake.receive("provider-a", { rawBody, header: (name) => headers[name] });
  expect(result.outcome).not.toBe("failed");
}

/** Every event of an order contains its subscription as it is when the event is made. */
const subscription = {
  current_period_start: "2026-03-01T12:00:00Z",
  current_period_end: "2026-04-01T12:00:00Z",
};
const february = { id: "order_february", created_at: "2026-02-01T12:00:01Z", due_amount: 7_500 };
const march = { id: "order_march", created_at: "2026-03-01T12:00:01Z", due_amount: 2_000 };

async function hasAccess(userId: string): Promise<boolean> {
  const [facts] = await subscriptionAccessOfUser(test.database, userId);
  return facts !== undefined && accessOf(facts, null, new Date()).hasAccess;
}

const RENEWAL = { billing_reason: "subscription_cycle", subscription };

it("keeps access when the dearer order of a former period, not known before, is refunded", async () => {
  await receive("user_1", "subscription.updated", { status: "active" });
  await receive("user_1", "order.paid", { ...march, ...RENEWAL });
  const refunded = { status: "refunded", refunded_amount: 7_500, ...RENEWAL };
  await receive("user_1", "order.refunded", { ...february, ...refunded });
  expect(await hasAccess("user_1")).toBe(true);
});

it("ends access when the present order is refunded after a dearer, earlier one was refunded in part", async () => {
  await receive("user_2", "subscription.updated", { status: "active" });
  const partly = { status: "partially_refunded", refunded_amount: 1_000, ...RENEWAL };
  await receive("user_2", "order.refunded", { ...february, ...partly, id: "order_february_2" });
  const refunded = { status: "refunded", refunded_amount: 2_000, ...RENEWAL };
  await receive("user_2", "order.refunded", { ...march, ...refunded, id: "order_march_2" });
  expect(await hasAccess("user_2")).toBe(false);
});
