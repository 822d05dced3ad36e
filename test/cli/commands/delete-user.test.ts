import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { createUser, type TestUser } from "../../support/people.ts";
import { STRIPE_KEY, type StripeServer, stripeServer } from "../../support/stripe-server.ts";
import { createSubscription } from "../../support/subscriptions.ts";
import { testDatabase } from "../../support/test-database.ts";
import { serverVariables } from "../../support/variables.ts";
import { type Tollgate, tollgateIn } from "../tollgate.ts";

const test = testDatabase(0);
let stripe: StripeServer;
let tollgate: Tollgate;
beforeAll(async () => {
  stripe = await stripeServer();
  tollgate = tollgateIn({
    ...serverVariables(test.url),
    PROVIDER_A_API_KEY: STRIPE_KEY,
    PROVIDER_A_API_URL: stripe.url,
  });
});
afterAll(() => stripe.close());

let person: TestUser;
let email: string;
beforeEach(async () => {
  stripe.interfere(null);
  person = await createUser(test);
  email = person.email;
});

const isThere = async () => (await test.rows(`select from "user" where id = $1`, [person.id])).length === 1;

/** Stored, and unless `isKnown` is false known to the provider. @returns the provider's id */
async function subscribe({ isKnown = true } = {}): Promise<string> {
  const id = `sub_${person.id}`;
  await createSubscription(test, person.id, { provider_subscription_id: id });
  if (isKnown) stripe.subscriptions.set(id, { id, object: "subscription", status: "active" });
  return id;
}

it("cancels the subscription at its provider, deletes the account, and records who did", async () => {
  const id = await subscribe();
  expect(await tollgate("users", "delete", ` ${email.toUpperCase()} `)).toEqual({
    code: 0,
    stdout: `${email} is deleted\n`,
    stderr: "",
  });
  expect(stripe.canceled).toContain(id);
  expect(await isThere()).toBe(false);
  expect(
    await test.rows("select action, actor_kind as by from audit_entry where target_id = $1", [person.id]),
  ).toEqual([{ action: "user.deleted", by: "operator" }]);
});

it("prints the id as JSON", async () => {
  expect(await tollgate.json("users", "delete", email)).toEqual({ id: person.id, deleted: true });
});

it("deletes nothing while the subscription cannot be canceled, and says why", async () => {
  await subscribe();
  stripe.interfere(async () => ({ status: 403 }));
  const { code, stdout, stderr } = await tollgate("users", "delete", email);
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr.split("\n")).toEqual([
    expect.stringMatching(/^a subscription could not be canceled, slot provider-a, .*as the test has it/),
    "The subscription could not be canceled at the payment provider: cancel it there first",
    "",
  ]);
  expect(await isThere()).toBe(true);
});

it("names a subscription that its provider does not know", async () => {
  const id = await subscribe({ isKnown: false });
  const { code, stderr } = await tollgate("users", "delete", email);
  expect(code).toBe(0);
  expect(stderr).toContain("is unknown to its provider");
  expect(stderr).toContain(id);
});

it("keeps the last administrator", async () => {
  await test.rows(`update "user" set role = 'admin' where id = $1`, [person.id]);
  expect(await tollgate("users", "delete", email)).toEqual({
    code: 1,
    stdout: "",
    stderr: "The last administrator cannot be demoted or deleted\n",
  });
  expect(await isThere()).toBe(true);
});

it("fails for an unknown email address", async () => {
  const result = await tollgate("users", "delete", "nobody@example.com", "--json");
  expect([result.code, JSON.parse(result.stdout)]).toEqual([1, { error: "No such user" }]);
});
