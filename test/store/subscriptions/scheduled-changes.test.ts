import { beforeEach, describe, expect, it } from "vitest";
import {
  correctScheduledChange,
  deleteScheduledChange,
  findWaitingChanges,
  saveScheduledChange,
  scheduledChangesOfUser,
  scheduledChangeVersion,
} from "../../../src/store/subscriptions/scheduled-changes.ts";
import { createSubscription } from "../../support/subscriptions.ts";
import { testDatabase } from "../../support/test-database.ts";

const test = testDatabase(1);
beforeEach(() => test.rows("delete from subscription"));

const tomorrow = () => new Date(Date.now() + 86_400_000);
const CHANGE = { planId: "team", priceId: "price_team", seats: 5 };

async function scheduled(
  columns: Parameters<typeof createSubscription>[2] = {},
  takesEffectAt = tomorrow(),
): Promise<string> {
  const subscriptionId = await createSubscription(test, "user_0", columns);
  await saveScheduledChange(test.database, { subscriptionId, ...CHANGE, takesEffectAt });
  return subscriptionId;
}

const stored = () =>
  test.rows("select subscription_id as id, seats from scheduled_change order by seats, subscription_id");

it("finds the subscriptions of a slot for which a change waits", async () => {
  const id = await scheduled();
  await scheduled({ provider: "provider-b" });
  await scheduled({ status: "canceled" });
  await scheduled({}, new Date(Date.now() - 60_000));
  await createSubscription(test, "user_0");
  expect(await findWaitingChanges(test.database, "provider-a")).toEqual([id]);
});

it("shows a person what waits: not what is over, has been made or will not be", async () => {
  const ids = [
    await scheduled(),
    await scheduled({ plan_id: "team", price_id: "price_team", seats: 4 }),
    await scheduled({ plan_id: "team", price_id: "price_team_before", seats: 5 }),
    await scheduled({ plan_id: "team", price_id: null, seats: 5 }),
  ];
  await scheduled({ status: "canceled" });
  await scheduled({ cancel_at_period_end: true });
  await scheduled({}, new Date(Date.now() - 60_000));
  await scheduled({ plan_id: "team", price_id: "price_team", seats: 5 });
  const changes = await scheduledChangesOfUser(test.database, "user_0", new Date());
  expect(changes.map(({ subscriptionId }) => subscriptionId).sort()).toEqual(ids.sort());
  expect(await scheduledChangesOfUser(test.database, "user_1", new Date())).toEqual([]);
});

describe("a scheduled change", () => {
  it("replaces the one before in every respect, and so does its correction", async () => {
    const subscriptionId = await scheduled();
    const change = { subscriptionId, planId: "pro", priceId: "price_other", seats: 7 };
    const takesEffectAt = new Date(Date.now() + 2 * 86_400_000);
    await saveScheduledChange(test.database, { ...change, takesEffectAt });
    expect(await scheduledChangesOfUser(test.database, "user_0", new Date())).toEqual([
      { ...change, takesEffectAt },
    ]);
    const version = await scheduledChangeVersion(test.database, subscriptionId);
    const corrected = { ...CHANGE, priceId: "price_corrected", takesEffectAt: tomorrow() };
    await correctScheduledChange(test.database, subscriptionId, corrected, version);
    expect(await scheduledChangesOfUser(test.database, "user_0", new Date())).toEqual([
      { subscriptionId, ...corrected },
    ]);
  });

  it("is corrected and withdrawn unless another one has been stored since, and for its subscription alone", async () => {
    const id = await scheduled();
    const other = await scheduled();
    const old = await scheduledChangeVersion(test.database, id);
    await saveScheduledChange(test.database, {
      subscriptionId: id,
      ...CHANGE,
      seats: 6,
      takesEffectAt: tomorrow(),
    });
    const provider = { ...CHANGE, seats: 7, takesEffectAt: tomorrow() };
    await correctScheduledChange(test.database, id, provider, old);
    await correctScheduledChange(test.database, id, null, old);
    await correctScheduledChange(test.database, id, provider, null);
    const untouched = { id: other, seats: 5 };
    expect(await stored()).toEqual([untouched, { id, seats: 6 }]);

    const version = await scheduledChangeVersion(test.database, id);
    await correctScheduledChange(test.database, id, provider, version);
    expect(await stored()).toEqual([untouched, { id, seats: 7 }]);
    const corrected = await scheduledChangeVersion(test.database, id);
    await correctScheduledChange(test.database, id, null, corrected);
    expect(await stored()).toEqual([untouched]);

    await correctScheduledChange(test.database, id, provider, null);
    expect(await stored()).toEqual([untouched, { id, seats: 7 }]);
    const withdrawn = await scheduledChangeVersion(test.database, id);
    await deleteScheduledChange(test.database, id);
    await correctScheduledChange(test.database, id, provider, withdrawn);
    expect(await stored()).toEqual([untouched]);
  });
});
