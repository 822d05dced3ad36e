import { beforeEach, describe, expect, it } from "vitest";
import { newApiKey } from "../../src/auth/callers/api-key.ts";
import { OPERATOR } from "../../src/domain/callers/caller.ts";
import { replay } from "../../src/intake/claims/replay.ts";
import { createApiKey } from "../../src/operations/api-keys/create-api-key.ts";
import { revokeApiKey } from "../../src/operations/api-keys/revoke-api-key.ts";
import { dismissSubscription } from "../../src/operations/subscriptions/dismiss-subscription.ts";
import { reconcileSubscription } from "../../src/operations/subscriptions/reconcile-subscription.ts";
import { changeRole } from "../../src/operations/users/change-role.ts";
import { deleteUser } from "../../src/operations/users/delete-user.ts";
import { reconcile } from "../../src/reconcile/reconcile.ts";
import { verify } from "../../src/reconcile/verify.ts";
import { EMPTY_AUDIT } from "../import/empty-audit.ts";
import { stripeContext } from "../support/stripe-context.ts";
import { expectFailureWithoutAudit } from "../support/without-audit.ts";
import { runningSession } from "./running-session.ts";
import { createTestContext, session } from "./test-context.ts";

const context = stripeContext();
const admin = session("user_0", "admin");
let subscriptionId: string;
let deliveryId: string;
let keyId: string;

beforeEach(async () => {
  const { test, eventOf, receive, truth } = context;
  await test.rows(EMPTY_AUDIT);
  await test.rows(`update "user" set role = 'admin' where id = 'user_0'`);
  await receive(eventOf("customer.subscription.created"));
  truth({ seats: 4 });
  const [subscription] = await test.rows<{ id: string }>(
    "update subscription set out_of_order = true returning id",
  );
  const [delivery] = await test.rows<{ id: string }>("select id from webhook_delivery");
  subscriptionId = String(subscription?.id);
  deliveryId = String(delivery?.id);
  keyId = (await call(createApiKey, await runningSession(context.test, "user_1"), { name: "First" })).id;
  await test.rows(EMPTY_AUDIT);
});

const call = (...[operation, caller, input]: Parameters<ReturnType<typeof createTestContext>["call"]>) => {
  const { database, intake, payments } = context.runtime;
  const log = { error: () => {} };
  return createTestContext({ database }, { newApiKey, intake, payments, log }).call(operation, caller, input);
};

const reconcileAll = () =>
  reconcile(context.runtime, {
    slots: ["provider-a"],
    subscription: null,
    extent: "out of order",
    since: null,
    dryRun: false,
    by: OPERATOR,
    isStopping: () => false,
  });
const repairAll = () =>
  verify(context.runtime, {
    slots: ["provider-a"],
    sample: null,
    repair: true,
    notify: false,
    progressed: () => {},
  });

const CHANGES: readonly [action: string, change: () => Promise<unknown>, target: () => string][] = [
  ["user.role_changed", () => call(changeRole, admin, { userId: "user_2", role: "admin" }), () => "user_2"],
  [
    "user.deleted",
    () => call(deleteUser, admin, { userId: "user_3", confirmation: "user_3@example.com" }),
    () => "user_3",
  ],
  [
    "api_key.created",
    async () => call(createApiKey, await runningSession(context.test, "user_1"), { name: "Second" }),
    () => "*",
  ],
  ["api_key.revoked", () => call(revokeApiKey, session("user_1"), { id: keyId }), () => keyId],
  [
    "delivery.replayed",
    () => replay(context.runtime.intake, deliveryId, { force: true, by: OPERATOR }),
    () => deliveryId,
  ],
  [
    "subscription.dismissed",
    () => call(dismissSubscription, admin, { id: subscriptionId, reason: "refunded by hand" }),
    () => subscriptionId,
  ],
  [
    "subscription.reconciled",
    () => call(reconcileSubscription, admin, { id: subscriptionId }),
    () => subscriptionId,
  ],
  // What fails for one subscription is in their reports: the others go on.
  [
    "subscription.reconciled",
    () => reconcileAll().then(({ left }) => assertNone(left)),
    () => subscriptionId,
  ],
  [
    "subscription.reconciled",
    () => repairAll().then(({ failed }) => assertNone(failed)),
    () => subscriptionId,
  ],
];

describe.each(CHANGES)("%s", (action, change, target) => {
  it("is recorded once, and commits with its entry or not at all", async () => {
    const before = await everything();
    await expectFailureWithoutAudit(context.test, change);
    expect(await everything()).toEqual(before);

    await change();
    const entries = await context.test.rows<{ action: string; target_id: string }>(
      "select action, target_id from audit_entry",
    );
    expect(entries).toEqual([{ action, target_id: target() === "*" ? expect.anything() : target() }]);
    expect(await everything()).not.toEqual(before);
  });
});

it("records a requested comparison, but not a job's run that corrects nothing", async () => {
  await reconcileAll();
  await context.test.rows(EMPTY_AUDIT);
  await reconcileAll();
  await repairAll();
  const actions = () => context.test.rows("select action, details from audit_entry");
  expect(await actions()).toEqual([]);
  await call(reconcileSubscription, admin, { id: subscriptionId });
  expect(await actions()).toEqual([{ action: "subscription.reconciled", details: { outcome: "unchanged" } }]);
});

function assertNone(problems: readonly { reason: string }[]): void {
  if (problems[0]) throw new Error(problems[0].reason);
}

/** All that an audited change may touch. */
async function everything(): Promise<unknown[]> {
  return Promise.all([
    context.test.rows('select id, role from "user" order by id'),
    context.test.rows("select id, revoked_at from api_key order by id"),
    context.test.rows("select id, claim_no, claim_source from webhook_delivery order by id"),
    context.test.rows("select id, seats, out_of_order from subscription order by id"),
    context.test.rows("select subscription_id, changes::text, reason from reconciliation order by id"),
    context.test.rows("select kind, user_id from notification order by id"),
  ]);
}
