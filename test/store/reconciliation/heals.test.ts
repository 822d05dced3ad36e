import { expect, it } from "vitest";
import {
  deleteHeal,
  postponeHeal,
  requestHeals,
  settleHeal,
} from "../../../src/store/reconciliation/heals.ts";
import { createSubscription } from "../../support/subscriptions.ts";
import { testDatabase } from "../../support/test-database.ts";

const test = testDatabase(1);

it("requests, postpones, settles and deletes the comparison of one subscription alone", async () => {
  const [id, other] = [await createSubscription(test, "user_0"), await createSubscription(test, "user_0")];
  const waiting = () =>
    test.rows(
      `select subscription_id as id, settled_version as settled, next_attempt_at > clock_timestamp() as postponed
       from subscription_heal`,
    );
  const untouched = [{ id: other, settled: null, postponed: false }];
  await requestHeals(test.database, [other], { inSeconds: 0 });
  expect(await waiting()).toEqual(untouched);
  await requestHeals(test.database, [id], { inSeconds: 0 });
  await postponeHeal(test.database, id, { seconds: 600, problem: "unreachable" });
  await settleHeal(test.database, { id, version: "1 0" }, "unknown");
  expect(await waiting()).toHaveLength(2);
  await deleteHeal(test.database, id);
  expect(await waiting()).toEqual(untouched);
});
