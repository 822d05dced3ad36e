import { beforeEach, describe, expect, it } from "vitest";
import {
  type ClaimedUnwanted,
  claimUnwanted,
  findPaidTwice,
  finishUnwanted,
  insertResumed,
  insertUnwanted,
  isUnwanted,
  markUnclaimed,
  rememberReplaced,
  reportUnwanted,
} from "../../../src/store/subscriptions/unwanted-subscriptions.ts";
import { createSubscription } from "../../support/subscriptions.ts";
import { testDatabase } from "../../support/test-database.ts";

const test = testDatabase(2);
beforeEach(async () => {
  for (const table of ["subscription", "replaced_checkout", "unwanted_subscription"])
    await test.rows(`delete from ${table}`);
});

/** One of the person's checkouts could not be closed when another one replaced it. */
const replaced = (userId: string) =>
  rememberReplaced(test.database, { provider: "provider-a", id: `cs_${userId}`, userId });

type Columns = NonNullable<Parameters<typeof createSubscription>[2]>;

const first = (userId: string, columns: Columns = {}) =>
  createSubscription(test, userId, {
    provider_subscription_id: `sub_first_${userId}`,
    created_at: "2026-01-01T00:00:00Z",
    ...columns,
  });

const second = (userId: string, columns: Columns = {}) =>
  createSubscription(test, userId, {
    provider_subscription_id: `sub_second_${userId}`,
    created_at: "2026-01-02T00:00:00Z",
    ...columns,
  });

async function paidTwice(): Promise<unknown[]> {
  await findPaidTwice(test.database);
  return test.rows(
    "select provider, provider_subscription_id as id, because from unwanted_subscription order by 1, 2",
  );
}

describe("a subscription counts as paid twice", () => {
  it("when its person has an earlier one, in whichever slot", async () => {
    await replaced("user_0");
    await replaced("user_0");
    await second("user_0");
    await first("user_0", { provider: "provider-b" });
    expect(await paidTwice()).toEqual([
      { provider: "provider-a", id: "sub_second_user_0", because: "paid_twice" },
    ]);
  });

  it("not when somebody else has the earlier one", async () => {
    await replaced("user_0");
    await replaced("user_1");
    await first("user_0");
    await second("user_1");
    expect(await paidTwice()).toEqual([]);
  });

  it("not when the person left no checkout open, or more than two days ago", async () => {
    await replaced("user_0");
    await test.rows("update replaced_checkout set replaced_at = now() - interval '49 hours'");
    for (const userId of ["user_0", "user_1"]) {
      await first(userId);
      await second(userId);
    }
    expect(await paidTwice()).toEqual([]);
  });

  it.each<Columns>([{ status: "canceled" }, { status: "incomplete" }, { cancel_at_period_end: true }])(
    "not when the earlier one is not paid any more: %j",
    async (columns) => {
      await replaced("user_0");
      await first("user_0", columns);
      await second("user_0");
      expect(await paidTwice()).toEqual([]);
    },
  );

  it("not when the earlier one was bought with a single payment", async () => {
    await replaced("user_0");
    await first("user_0", { provider_subscription_id: null, is_one_time: true });
    await second("user_0");
    expect(await paidTwice()).toEqual([]);
  });

  it("not before its provider has named it", async () => {
    await replaced("user_0");
    await first("user_0");
    await second("user_0", { provider_subscription_id: null });
    expect(await paidTwice()).toEqual([]);
  });
});

it("is claimed once due, or if its next attempt was set while the database's clock was ahead", async () => {
  await test.rows(
    `insert into unwanted_subscription (provider, provider_subscription_id, because, next_attempt_at)
     select 'provider-a', 'sub_in_' || hours, 'paid_twice', now() + hours * interval '1 hour'
     from unnest(array[-1, 6, 24]) as waiting (hours)`,
  );
  const claimed = [];
  for (let n = 0; n < 3; n += 1) claimed.push(await claimUnwanted(test.database, ["provider-a"]));
  expect(claimed).toMatchObject([
    { providerSubscriptionId: "sub_in_-1" },
    { providerSubscriptionId: "sub_in_24" },
    null,
  ]);
});

it("is unwanted anew once it is resumed after it was canceled, and not while that is still to be done", async () => {
  const subscription = { provider: "provider-a", providerSubscriptionId: "sub" } as const;
  const stored = () => test.rows("select * from unwanted_subscription");
  await insertUnwanted(test.database, [subscription]);
  const claimed = await claimUnwanted(test.database, ["provider-a"]);
  await reportUnwanted(test.database, subscription);
  const before = await stored();
  await insertResumed(test.database, [subscription]);
  expect(await stored()).toEqual(before);

  if (claimed) await finishUnwanted(test.database, claimed, { isRefunded: true });
  await insertResumed(test.database, [subscription]);
  expect(await stored()).toMatchObject([
    { because: "resumed", attempts: 0, canceled_at: null, refunded: null, reported_at: null },
  ]);
  // At once, and without the refund of what was paid for before it was canceled.
  expect(await claimUnwanted(test.database, ["provider-a"])).toMatchObject({
    because: "resumed",
    attempts: 1,
  });
});

it("is reported as nobody's once it was due for twice ten minutes since a server with its key last tried", async () => {
  const unwanted = { provider: "provider-b", providerSubscriptionId: "sub_due" } as const;
  await insertUnwanted(test.database, [unwanted]);
  const dueForTenMinutes = async () => {
    await test.rows(
      "update unwanted_subscription set next_attempt_at = clock_timestamp() - interval '11 minutes'",
    );
    return markUnclaimed(test.database, ["provider-a"]);
  };
  expect(await dueForTenMinutes()).toEqual([]);
  await test.rows("update unwanted_subscription set next_attempt_at = clock_timestamp()");
  expect(await claimUnwanted(test.database, ["provider-b"])).toMatchObject(unwanted);
  expect(await dueForTenMinutes()).toEqual([]);
  expect(await dueForTenMinutes()).toMatchObject([unwanted]);
  await test.rows("update unwanted_subscription set next_attempt_at = clock_timestamp()");
  const claimed = (await claimUnwanted(test.database, ["provider-b"])) as ClaimedUnwanted;
  await finishUnwanted(test.database, claimed, { isRefunded: true });
  for (let times = 0; times < 2; times += 1) expect(await dueForTenMinutes()).toEqual([]);
});

it("is known as unwanted by its id and slot, however often it is found", async () => {
  const unwanted = { provider: "provider-a", providerSubscriptionId: "sub_found" } as const;
  await insertUnwanted(test.database, [unwanted, unwanted]);
  await insertUnwanted(test.database, [unwanted]);
  expect(await isUnwanted(test.database, unwanted)).toBe(true);
  expect(await isUnwanted(test.database, { ...unwanted, provider: "provider-b" })).toBe(false);
  expect(await isUnwanted(test.database, { ...unwanted, providerSubscriptionId: "sub_other" })).toBe(false);
});
