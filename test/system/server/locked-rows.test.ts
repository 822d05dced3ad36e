import { afterEach, expect, it } from "vitest";
import { inTransaction } from "../../../src/store/transaction.ts";
import { cleanUp } from "../../support/cleanup.ts";
import { sendRequest } from "../../support/http.ts";
import { createAdmin, createUser } from "../../support/people.ts";
import { startProviderContext } from "./provider-context.ts";

afterEach(cleanUp);

const LOCK = { name: "lock_subscription", text: "select from subscription where id = $1::uuid for update" };
const LIMITS = {
  synchronousCommit: "on",
  lockTimeoutMs: 10_000,
  statementTimeoutMs: 10_000,
  idleTimeoutMs: 60_000,
} as const;

// As by a plugin's hook that takes long within the transaction of an event.
it("returns 503 while a subscription stays locked", async () => {
  const { server, test, buy, waitUntilEqual } = await startProviderContext("stripe");
  const [person, { cookie: admin }] = [await createUser(test), await createAdmin(test)];
  await buy(person, { planId: "pro", seats: 2 });
  await waitUntilEqual(person);
  const [row] = await test.rows<{ id: string; end: Date }>(
    `update subscription set out_of_order = true returning id, current_period_end as "end"`,
  );
  const { id, end } = row as { id: string; end: Date };
  const post = async (operation: string, cookie: string, body: object) => {
    const path = `/api/subscriptions/${id}/${operation}`;
    return (await sendRequest(server.url, "POST", path, { cookie, body })).status;
  };
  const expected = { planId: "pro", seats: 2, currentPeriodEnd: end.toISOString() };
  const requestAll = () =>
    Promise.all([
      post("reconcile", admin, {}),
      post("dismiss", admin, { reason: "Checked by hand." }),
      post("change", person.cookie, { seats: 3, when: "now", expected }),
    ]);

  await inTransaction(test.database, LIMITS, async (transaction) => {
    await transaction.run(LOCK, [id]);
    expect(await requestAll()).toEqual([503, 503, 503]);
  });
});

// PostgreSQL's own error, without the wait for it.
const NO_LOCK = `
create function lock_not_available() returns trigger language plpgsql as
$$ begin raise exception 'canceling statement due to lock timeout' using errcode = '55P03'; end $$`;

it("returns 503 where a lock for a sign-in or a deletion is not free in time", async () => {
  const { server, test } = await startProviderContext("stripe");
  const person = await createUser(test);
  const { email, password, cookie } = person;
  await test.rows(NO_LOCK);
  for (const event of [`delete on "user"`, "insert on session"])
    await test.rows(
      `create trigger locked before ${event} for each row execute function lock_not_available()`,
    );
  const post = async (path: string, more: object) =>
    (await sendRequest(server.url, "POST", path, more)).status;
  expect(
    await post("/api/trpc/user.deleteAccount", { cookie, body: { json: { confirmation: email } } }),
  ).toBe(503);
  expect(await post("/api/auth/sign-in/email", { body: { email, password } })).toBe(503);
});
