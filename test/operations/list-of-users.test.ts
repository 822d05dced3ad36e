import { expect, it } from "vitest";
import { listOfUsers } from "../../src/operations/subscriptions/list-of-users.ts";
import { createSubscription } from "../support/subscriptions.ts";
import { testDatabase } from "../support/test-database.ts";
import { createTestContext, session } from "./test-context.ts";

const test = testDatabase(2);

it("lists the newest ten subscriptions of each user", async () => {
  const ids: string[] = [];
  for (let n = 1; n <= 11; n += 1) {
    const id = await createSubscription(test, "user_0", { provider_subscription_id: `sub_${n}` });
    await test.rows("update subscription set created_at = now() + $2 * interval '1 minute' where id = $1", [
      id,
      n,
    ]);
    ids.unshift(id);
  }
  const other = await createSubscription(test, "user_1", { provider_subscription_id: "sub_other" });
  const listed: { id: string }[][] = await createTestContext(test).call(
    listOfUsers,
    session("user_0", "admin"),
    { userIds: ["user_1", "user_0"] },
  );
  expect(listed.map((ofUser) => ofUser.map(({ id }) => id))).toEqual([[other], ids.slice(0, 10)]);
});
