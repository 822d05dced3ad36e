import { expect, it } from "vitest";
import { redactDeleted } from "../../src/accounts/redact-deleted.ts";
import { OPERATOR } from "../../src/domain/callers/caller.ts";
import { retryDue } from "../../src/intake/claims/retry.ts";
import { deleteUserData } from "../../src/store/accounts/account-deletion.ts";
import type { Queryable } from "../../src/store/database.ts";
import { fixtureDelivery } from "../fixtures/fixture.ts";
import type { FixtureOverrides } from "../fixtures/overrides.ts";
import { freshRuntime } from "../support/fresh-runtime.ts";
import { createSubscription } from "../support/subscriptions.ts";
import { SECRETS } from "../support/variables.ts";

const { test, runtime } = freshRuntime({ users: 6, variables: { PROVIDER_B_ADAPTER: "polar" } });
const nothingStops = () => false;

/** Polar, which is told 200, does not send it again. */
async function fails(userId: string, overrides: FixtureOverrides = {}): Promise<void> {
  const { rawBody, headers } = fixtureDelivery("polar", "customer.subscription.created", {
    secret: SECRETS["provider-b"],
    nowSeconds: Math.floor(Date.now() / 1000),
    eventId: `evt_${userId}`,
    subscriptionId: `sub_${userId}`,
    userId,
    planId: "bygone",
    priceId: "price_bygone",
    status: "active",
    ...overrides,
  });
  const request = { rawBody, header: (name: string) => headers[name] };
  expect((await runtime.intake.receive("provider-b", request)).outcome).toBe("deferred");
}

const remove = (userId: string) =>
  deleteUserData(runtime.database, userId, { canceled: new Set(), by: OPERATOR });

const deliveryOf = (userId: string) =>
  test.rows(
    `select status, last_reason as reason, payload is not null as "isKept" from webhook_delivery where event_id = $1`,
    [`evt_${userId}`],
  );

const unwantedOf = (userId: string) =>
  test.rows("select because from unwanted_subscription where provider_subscription_id = $1", [
    `sub_${userId}`,
  ]);

it("an acknowledged purchase that could not be applied is canceled once its account is deleted", async () => {
  await fails("user_0");
  await remove("user_0");
  expect(await redactDeleted(runtime, nothingStops)).toBe(false);
  expect(await deliveryOf("user_0")).toEqual([{ status: "failed", reason: "plan_unknown", isKept: true }]);
  expect(await retryDue(runtime.intake)).toMatchObject({ ignored: 1 });
  expect(await unwantedOf("user_0")).toEqual([{ because: "account_deleted" }]);
  expect(await redactDeleted(runtime, nothingStops)).toBe(true);
  expect(await deliveryOf("user_0")).toMatchObject([{ status: "successful", isKept: false }]);
});

it("one that fails again is redacted", async () => {
  await createSubscription(test, "user_1", {
    provider: "provider-b",
    customer_id: "cus_user_1",
    status: "canceled",
  });
  // Its customer alone tells whose it is, which nobody knows any more after the deletion.
  await fails("user_1", { userId: null, customerId: "cus_user_1" });
  await remove("user_1");
  expect(await redactDeleted(runtime, nothingStops)).toBe(false);
  expect(await retryDue(runtime.intake)).toMatchObject({ failed: 1 });
  const logged: object[] = [];
  const log = { ...runtime.intake.log, error: (fields: object) => void logged.push(fields) };
  expect(await redactDeleted({ ...runtime, intake: { ...runtime.intake, log } }, nothingStops)).toBe(true);
  expect(await deliveryOf("user_1")).toEqual([{ status: "failed", reason: "redacted", isKept: false }]);
  const [delivery] = await test.rows("select id from webhook_delivery where event_id = 'evt_user_1'");
  expect(logged).toEqual([
    { slot: "provider-b", providerSubscriptionId: "sub_user_1", deliveryId: delivery?.id },
  ]);
});

it("one whose failure was recorded after the deletion is tried once more", async () => {
  await fails("user_5");
  await remove("user_5");
  await test.rows("update webhook_delivery set completed_at = clock_timestamp() where status = 'failed'");
  expect(await redactDeleted(runtime, nothingStops)).toBe(false);
  expect(await retryDue(runtime.intake)).toMatchObject({ ignored: 1 });
});

it("one of a subscription that was canceled with the account is not waited for", async () => {
  await fails("user_4");
  await createSubscription(test, "user_4", {
    provider: "provider-b",
    provider_subscription_id: "sub_user_4",
  });
  await test.rows("update subscription set status = 'canceled'");
  await remove("user_4");
  expect(await redactDeleted(runtime, nothingStops)).toBe(true);
  expect(await deliveryOf("user_4")).toEqual([{ status: "failed", reason: "redacted", isKept: false }]);
});

it("one that was given up is tried too, and what lies before it in the log does not wait", async () => {
  await fails("user_2");
  await fails("user_3");
  await test.rows("update webhook_delivery set next_attempt_at = null where status = 'failed'");
  await remove("user_3");
  expect(await redactDeleted(runtime, nothingStops)).toBe(false);
  const [before] = await test.rows(
    "select to_redact->>'after' = (select (max(id) - 1)::text from webhook_delivery) as \"isReached\" from deleted_user where id = 'user_3'",
  );
  expect(before).toEqual({ isReached: true });
  expect(await retryDue(runtime.intake)).toMatchObject({ ignored: 1, failed: 0 });
  expect(await unwantedOf("user_3")).toEqual([{ because: "account_deleted" }]);
  expect(await redactDeleted(runtime, nothingStops)).toBe(true);
  expect(await deliveryOf("user_2")).toMatchObject([{ status: "failed", isKept: true }]);
});

it("one that another process redacts meanwhile is not tried any more", async () => {
  await fails("user_2");
  await remove("user_2");
  const database: Queryable = {
    run: async (statement, values) => {
      if (statement.name === "hasten_retries")
        await test.rows("update webhook_delivery set payload = null, next_attempt_at = null");
      return test.database.run(statement, values);
    },
  };
  expect(await redactDeleted({ ...runtime, database }, nothingStops)).toBe(true);
  expect(await test.rows("select from webhook_delivery where next_attempt_at is not null")).toEqual([]);
});
