import { readdir, readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { migrate } from "../../../src/store/migrate.ts";
import { addUsers, emptyDatabase, type TestDatabase } from "../../support/database.ts";
import { createSubscription } from "../../support/subscriptions.ts";

const FOLDER = new URL("../../../src/store/migrations/", import.meta.url);

let test: TestDatabase;
beforeAll(async () => {
  test = await emptyDatabase();
});
afterAll(() => test.drop());

const bought = async (userId: string, paymentId: string | null, planId = "pro", more = {}) => {
  const once = { is_one_time: true, provider_subscription_id: null, plan_id: planId, ...more };
  const id = await createSubscription(test, userId, once);
  await test.rows("update subscription set payment_id = $2 where id = $1", [id, paymentId]);
};

it("single payments and those free of charge keep what they have bought, and are one each from then on", async () => {
  const connection = await test.database.connection();
  await connection.script(
    "create table schema_migration (name text primary key, applied_at timestamptz not null default now())",
  );
  for (const name of (await readdir(FOLDER)).sort().filter((fileName) => fileName < "0361")) {
    await connection.script(await readFile(new URL(name, FOLDER), "utf8"));
    await connection.script(`insert into schema_migration (name) values ('${name}')`);
  }
  connection.release({ healthy: true });
  await addUsers(test, 3);
  await bought("user_0", "pi_0");
  await bought("user_1", null);
  // A server of the release before gives a purchase the id of its person's subscription.
  await bought("user_2", "pi_2", "pro", { provider_subscription_id: "sub_2" });
  await createSubscription(test, "user_1", { provider_subscription_id: null });
  // It stored no user of a payment whose checkout named only the customer, either.
  await test.rows(
    `insert into payment (provider, provider_payment_id, provider_subscription_id, amount, currency, state, status, occurred_at)
     values ('provider-a', 'pi_0', 'pi_0', 900, 'EUR', 'paid', 'paid', now())`,
  );
  const rows = () => test.rows("select * from subscription order by id");
  const before = await rows();
  await migrate(test.database);
  // Later migrations add columns.
  expect(await rows()).toMatchObject(before);
  expect(await test.rows("select user_id from payment")).toEqual([{ user_id: "user_0" }]);

  await bought("user_0", "pi_1");
  await bought("user_0", null);
  await bought("user_1", null, "team");
  await bought("user_2", "pi_2");
  const repeated = { code: "23505" };
  await expect(bought("user_0", "pi_1", "team")).rejects.toMatchObject(repeated);
  await expect(bought("user_1", null)).rejects.toMatchObject(repeated);
  const nameless = createSubscription(test, "user_1", { provider_subscription_id: null, plan_id: "team" });
  await expect(nameless).rejects.toMatchObject(repeated);
});
