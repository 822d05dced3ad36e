import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { decodeChanges } from "../../../src/store/outbound/change-set.ts";
import { lockFreeSubscriptions } from "../../../src/store/subscriptions/subscription-locks.ts";
import { testDatabase } from "../../support/test-database.ts";

const test = testDatabase(0);

const AT = "2038-01-19T03:14:08.002Z";

it("reads a period's end to the millisecond where PostgreSQL's seconds are less exact", async () => {
  await test.rows(
    `insert into subscription (id, provider, provider_subscription_id, plan_id, seats, status, current_period_end,
       cancel_at_period_end, out_of_order)
     values ($1, 'provider-a', 'sub', 'team', 5, 'active', $2, false, false)`,
    [randomUUID(), AT],
  );
  const link = {
    provider: "provider-a",
    providerSubscriptionId: "sub",
    userId: null,
    customerId: null,
  } as const;
  const [subscription] = await lockFreeSubscriptions(test.database, [link]);
  expect(subscription?.currentPeriodEnd).toEqual(new Date(AT));
});

it("reads it so from a change that a server of an earlier release has written, too", async () => {
  const [row] = await test.rows<{ ms: number }>("select date_part('epoch', $1::timestamptz) * 1000 as ms", [
    AT,
  ]);
  expect(row?.ms).toBeLessThan(Date.parse(AT));
  const change = ["id", null, null, "provider-a", "sub", "team", 5, "active", row?.ms, false, false, null];
  const [decoded] = decodeChanges(Buffer.from(JSON.stringify([change])));
  expect(decoded?.after.currentPeriodEnd).toEqual(new Date(AT));
});
