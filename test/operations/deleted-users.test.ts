import { expect, it } from "vitest";
import { createLog } from "../../src/observability/log.ts";
import { deleteAccount } from "../../src/operations/users/delete-account.ts";
import { fixtureDelivery } from "../fixtures/fixture.ts";
import type { FixtureOverrides } from "../fixtures/overrides.ts";
import { freshRuntime } from "../support/fresh-runtime.ts";
import { SECRETS } from "../support/variables.ts";
import { findInAllTables } from "./find-in-all-tables.ts";
import { createTestContext, session } from "./test-context.ts";

const logged: unknown[] = [];
const log = createLog("silent");
log.error = ((...line: unknown[]) => void logged.push(line)) as typeof log.error;
const { test, runtime } = freshRuntime({ users: 2, log });

const receive = async (kind: string, overrides: FixtureOverrides) => {
  const { rawBody, headers } = fixtureDelivery("stripe", kind, {
    secret: SECRETS["provider-a"],
    nowSeconds: Math.floor(Date.now() / 1000),
    eventId: `evt_${Math.random()}`,
    customerId: "cus_0",
    planId: "pro",
    priceId: "price_pro_monthly",
    status: "active",
    ...overrides,
  });
  return runtime.intake.receive("provider-a", { rawBody, header: (name) => headers[name] });
};
const leave = (id: string) =>
  createTestContext(test, { cancelSubscription: async () => {} }).call(deleteAccount, session(id), {
    confirmation: `${id}@example.com`,
  });

it("logs a subscription that was paid after the account was deleted, and will be canceled and refunded", async () => {
  await leave("user_0");
  const late = { userId: "user_0", subscriptionId: "sub_late" };
  for (const kind of ["checkout.session.completed", "customer.subscription.created"]) {
    expect(await receive(kind, late)).toEqual({ outcome: "ignored" });
  }
  expect(logged).toEqual(
    Array(2).fill([
      { slot: "provider-a", providerSubscriptionId: "sub_late" },
      expect.stringMatching(/has paid: its subscription is canceled and refunded/),
    ]),
  );
  logged.length = 0;
  expect(await receive("customer.subscription.deleted", late)).toEqual({ outcome: "ignored" });
  expect(logged).toEqual([]);
  expect(await findInAllTables(test, "user_0")).toEqual([
    "audit_entry.actor_id",
    "audit_entry.target_id",
    "deleted_user.id",
    "outbound_event.data",
  ]);
});

it("does not report a subscription that was canceled with the account", async () => {
  await receive("customer.subscription.created", { userId: "user_1", subscriptionId: "sub_1" });
  await leave("user_1");
  await receive("customer.subscription.updated", { userId: "user_1", subscriptionId: "sub_1" });
  await receive("customer.subscription.deleted", { userId: "user_1", subscriptionId: "sub_1" });
  expect(logged).toEqual([]);
});
