import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { RunningServer } from "../../../src/server.ts";
import { loadFixture, signedDelivery } from "../../fixtures/fixture.ts";
import type { FixtureOverrides } from "../../fixtures/overrides.ts";
import { deliverWebhook, sendRequest } from "../../support/http.ts";
import { createAdmin, createUser, type TestUser } from "../../support/people.ts";
import { startTestServer } from "../../support/server.ts";
import { STRIPE_KEY, type StripeServer, stripeServer } from "../../support/stripe-server.ts";
import { createSubscription } from "../../support/subscriptions.ts";
import { testDatabase } from "../../support/test-database.ts";
import { GENEROUS_LIMITS, SECRETS, serverVariables } from "../../support/variables.ts";
import { type Tollgate, tollgateIn } from "../tollgate.ts";

const test = testDatabase(0);
let stripe: StripeServer;
let server: RunningServer;
let tollgate: Tollgate;
let variables: Record<string, string>;
let admin: TestUser;
let person: TestUser;
beforeAll(async () => {
  stripe = await stripeServer();
  variables = { ...GENEROUS_LIMITS, PROVIDER_A_API_KEY: STRIPE_KEY, PROVIDER_A_API_URL: stripe.url };
  server = await startTestServer(test.url, variables);
  tollgate = tollgateIn({ ...serverVariables(test.url), ...variables });
  admin = await createAdmin(test);
});
afterAll(async () => {
  await server.close();
  await stripe.close();
});

let events = 0;

function eventOf(overrides: FixtureOverrides = {}) {
  events += 1;
  return loadFixture("stripe", "customer.subscription.created", {
    eventId: `evt_${events}`,
    occurredAt: new Date(),
    userId: person.id,
    planId: "pro",
    subscriptionId: `sub_${person.id}`,
    customerId: `cus_${person.id}`,
    priceId: "price_pro_monthly",
    seats: 1,
    status: "active",
    cancelAtPeriodEnd: false,
    ...overrides,
  }).body as { id: string; type: string; created: number; data: { object: object } };
}

/** Sets the state that the provider returns from now on. */
const truth = (overrides: FixtureOverrides) =>
  void stripe.subscriptions.set(`sub_${person.id}`, eventOf(overrides).data.object);

let id: string;
beforeEach(async () => {
  stripe.interfere(null);
  stripe.events.length = 0;
  person = await createUser(test);
  const nowSeconds = Math.floor(Date.now() / 1000);
  const delivery = signedDelivery("stripe", eventOf(), { secret: SECRETS["provider-a"], nowSeconds });
  expect((await deliverWebhook(server.url, "provider-a", delivery)).body).toEqual({ received: true });
  const [row] = await test.rows<{ id: string }>("select id from subscription where user_id = $1", [
    person.id,
  ]);
  id = row?.id as string;
});

const seats = async () =>
  (await test.rows<{ seats: number }>("select seats from subscription where id = $1", [id]))[0]?.seats;

describe("webhooks verify", () => {
  /** Others of this file are at the provider as well, and the same there. */
  const drift = async (...flags: string[]) => {
    const { code, stdout, stderr } = await tollgate("webhooks", "verify", "--json", ...flags);
    return { code, stderr, ...JSON.parse(stdout) };
  };

  it("exits with 0 when all match, 3 when something differs, and repairs it", async () => {
    await test.rows("delete from subscription where id <> $1", [id]);
    truth({});
    expect(await drift()).toMatchObject({ code: 0, stderr: "", checked: 1, drift: [] });
    await test.rows("update subscription set seats = 7 where id = $1", [id]);
    const identity = { kind: "subscription", id, slot: "provider-a", providerId: `sub_${person.id}` };
    const difference = {
      ...identity,
      field: "seats",
      ours: 7,
      theirs: 1,
      lastEventId: expect.stringMatching(/^evt_/),
    };
    expect(await drift()).toMatchObject({ code: 3, drift: [difference], repaired: 0, failed: [] });
    const { code, stdout } = await tollgate("webhooks", "verify", "--slot", "provider-a", "--repair");
    expect([code, await seats()]).toEqual([3, 1]);
    expect(stdout).toMatch(/seats +7 +1 +evt_/);
    expect(stdout).toContain("checked 1, 1 differs, repaired 1, failed 0");
    expect(await drift("--sample", "10")).toMatchObject({ code: 0, checked: 1 });
  });

  it.each([
    [[], []],
    [["--notify"], [{ kind: "subscription_past_due" }]],
  ])("notifies nobody of a repair unless it is told to: %j", async (flags, notifications) => {
    await test.rows("delete from subscription where id <> $1", [id]);
    await test.rows("delete from notification where user_id = $1", [person.id]);
    stripe.subscriptions.clear();
    truth({ status: "past_due" });
    expect((await drift("--repair", ...flags)).repaired).toBe(1);
    expect(await test.rows("select kind from notification where user_id = $1", [person.id])).toEqual(
      notifications,
    );
  });

  it("checks only as many as it is told to, and no other slot", async () => {
    await test.rows("delete from subscription where id <> $1", [id]);
    stripe.subscriptions.clear();
    truth({});
    for (const [provider, other] of [
      ["provider-a", "sub_of_a"],
      ["provider-b", "sub_of_b"],
    ] as const)
      await createSubscription(test, person.id, { provider, provider_subscription_id: other });
    expect(await drift("--slot", "provider-a")).toMatchObject({ code: 3, checked: 2, failed: [] });
    expect(await drift("--slot", "provider-a", "--sample", "1")).toMatchObject({ checked: 1, failed: [] });
    expect((await drift()).failed).toMatchObject([{ slot: "provider-b" }]);
    await test.rows("delete from subscription where id <> $1", [id]);
  });

  it("prints what the provider does not know", async () => {
    await test.rows("delete from subscription where id <> $1", [id]);
    stripe.subscriptions.clear();
    const { code, stdout } = await tollgate("webhooks", "verify");
    expect(code).toBe(3);
    expect(stdout).toMatch(new RegExp(`providerSubscriptionId +sub_${person.id} +unknown there`));
  });

  it("exits with 3 when it has checked all, and cannot repair what differs", async () => {
    await test.rows("delete from subscription where id <> $1", [id]);
    stripe.subscriptions.clear();
    const unknown = [{ providerId: `sub_${person.id}` }];
    expect(await drift("--repair")).toMatchObject({ code: 3, stderr: "", drift: unknown, failed: unknown });
  });

  it("exits with 1 when a provider is unreachable or the slot has none", async () => {
    stripe.interfere(async () => ({ status: 500 }));
    expect(await drift()).toMatchObject({ code: 1, stderr: expect.stringContaining("could not be checked") });
    expect(await drift("--slot", "provider-b")).toMatchObject({
      code: 1,
      stderr: "no payment provider is configured for provider-b\n",
    });
  });

  it("waits for as long as the provider asks for, and goes on", async () => {
    await test.rows("delete from subscription where id <> $1", [id]);
    stripe.subscriptions.clear();
    await test.rows("update subscription set seats = 9 where id = $1", [id]);
    truth({ seats: 4 });
    const refused = new Set<string>();
    stripe.interfere(async ({ path }) => {
      if (!["/v1/subscriptions", "/v1/invoices"].includes(path) || refused.has(path)) return undefined;
      refused.add(path);
      // Longer than one call lasts.
      return { status: 429, headers: { "retry-after": "10" } };
    });
    const { code, stdout } = await tollgate("webhooks", "verify", "--slot", "provider-a", "--repair");
    expect(stdout).toContain("failed 0");
    expect(code).toBe(3);
    expect(await seats()).toBe(4);
    expect([...refused]).toEqual(["/v1/subscriptions", "/v1/invoices"]);
  });
});

describe("webhooks reconcile", () => {
  it("shows in a dry run what it would correct, corrects it, then finds nothing", async () => {
    truth({ seats: 3 });
    const command = ["webhooks", "reconcile", "--subscription", `sub_${person.id}`];
    const dry = await tollgate(...command, "--dry-run");
    expect([dry.code, dry.stderr]).toEqual([3, ""]);
    expect(dry.stdout).toMatch(new RegExp(`provider-a +sub_${person.id} +seats +1 +3\\n`));
    expect(dry.stdout).toContain("compared 1, 1 would be corrected (dry run: nothing was changed)");
    expect(await seats()).toBe(1);
    const result = await tollgate(...command);
    expect([result.code, await seats()]).toEqual([0, 3]);
    expect(result.stdout).toContain("compared 1, 1 corrected");
    expect((await tollgate(...command)).stdout).toContain("compared 1, 0 corrected");
  });

  it("ingests missed events and corrects out-of-order subscriptions; --json reports both", async () => {
    stripe.events.push(eventOf({ seats: 2, occurredAt: new Date(Date.now() - 60_000) }));
    truth({ seats: 1 });
    expect(await tollgate.json("webhooks", "reconcile", "--since", "1h")).toEqual({
      dryRun: false,
      slots: [
        {
          slot: "provider-a",
          missed: { listed: 1, missed: 1, applied: 1, ignored: 0, failed: 0 },
          changed: null,
          problem: null,
        },
        {
          slot: "provider-b",
          missed: null,
          changed: null,
          problem: "no payment provider is configured for provider-b",
        },
        {
          slot: "provider-c",
          missed: null,
          changed: null,
          problem: "no payment provider is configured for provider-c",
        },
      ],
      compared: 1,
      corrected: [
        {
          subscriptionId: id,
          slot: "provider-a",
          providerSubscriptionId: `sub_${person.id}`,
          changes: { seats: [2, 1], outOfOrder: [true, false] },
        },
      ],
      left: [],
    });
  });

  it("looks back as far as it is told, and exits with 3 in a dry run that misses an event", async () => {
    const missed = eventOf({ seats: 2, occurredAt: new Date(Date.now() - 2 * 3_600_000) });
    stripe.events.push(missed);
    truth({ seats: 1 });
    const dryRun = async (...since: string[]) => {
      const command = ["webhooks", "reconcile", "--dry-run", ...since];
      const { code, stdout } = await tollgate(...command);
      return [code, /^provider-a: .*$/m.exec(stdout)?.[0]];
    };
    expect(await dryRun("--since", "90m")).toEqual([0, "provider-a: 0 events listed, none missed"]);
    expect(await dryRun("--since", "3h")).toEqual([3, "provider-a: 1 events listed, 1 missed"]);
    expect(await dryRun()).toEqual([3, "provider-a: 1 events listed, 1 missed"]);
    expect(await test.rows("select from webhook_delivery where event_id = $1", [missed.id])).toEqual([]);
  });

  it("compares every subscription of a slot that is named, and no other slot", async () => {
    await test.rows("delete from subscription where id <> $1", [id]);
    truth({ seats: 5 });
    const named = await tollgate.json("webhooks", "reconcile", "--slot", "provider-a");
    expect(named).toMatchObject({ slots: [{ slot: "provider-a" }], compared: 1 });
    expect([named.slots.length, await seats()]).toEqual([1, 5]);
    const { code, stderr } = await tollgate("webhooks", "reconcile", "--slot", "provider-b");
    expect([code, stderr]).toEqual([1, "not compared: no payment provider is configured for provider-b\n"]);
  });

  it("fails when the provider cannot be reached, or does not know the named subscription", async () => {
    stripe.interfere(async () => ({ status: 500 }));
    const away = await tollgate("webhooks", "reconcile");
    expect([away.code, away.stderr]).toEqual([
      1,
      expect.stringMatching(/^the provider cannot be reached: unreachable/),
    ]);
    stripe.interfere(null);
    stripe.subscriptions.clear();
    const unknown = await tollgate("webhooks", "reconcile", "--subscription", id);
    expect([unknown.code, unknown.stderr]).toEqual([
      1,
      "Nothing was changed: the provider knows no subscription by this id\n",
    ]);
    expect(unknown.stdout).toContain("provider-a: one subscription alone");
    // As "subscriptions dismiss" takes it.
    expect(unknown.stdout).toMatch(new RegExp(`sub_${person.id} +${id}`));
    const none = await tollgate("webhooks", "reconcile", "--subscription", "sub_of_nobody");
    expect([none.code, none.stderr]).toEqual([1, "No such subscription\n"]);
    expect(await seats()).toBe(1);
  });

  it("fails when a subscription that waits is in a slot without a provider, or no slot has one", async () => {
    const noProvider = (slot: string) => `no payment provider is configured for ${slot}`;
    await test.rows(
      `insert into subscription (id, user_id, provider, provider_subscription_id, plan_id, seats, status,
         cancel_at_period_end, out_of_order)
       values (gen_random_uuid(), $1, 'provider-b', 'sub_b', 'pro', 1, 'active', false, true)`,
      [person.id],
    );
    const waiting = await tollgate("webhooks", "reconcile", "--json");
    const named = await tollgate("webhooks", "reconcile", "--subscription", "sub_b");
    for (const { code, stderr } of [waiting, named])
      expect([code, stderr]).toEqual([1, `not compared: ${noProvider("provider-b")}\n`]);
    expect(JSON.parse(waiting.stdout)).toMatchObject({
      left: [{ slot: "provider-b", providerSubscriptionId: "sub_b", reason: noProvider("provider-b") }],
    });
    await test.rows("delete from subscription where provider = 'provider-b'");
    expect((await tollgate("webhooks", "reconcile")).code).toBe(0);
    const without = await tollgateIn(serverVariables(test.url))("webhooks", "reconcile");
    expect([without.code, without.stderr]).toEqual([
      1,
      `not compared: ${["provider-a", "provider-b", "provider-c"].map(noProvider).join("; ")}\n`,
    ]);
  });

  it.each([
    ["--since", "yesterday"],
    ["--since", "400d"],
    ["--since", "2999-01-01"],
    ["--slot", "stripe"],
  ])("refuses %s %s as wrong usage", async (...wrong) => {
    expect((await tollgate("webhooks", "reconcile", ...wrong)).code).toBe(2);
  });

  it("prints examples in --help", async () => {
    expect((await tollgate("webhooks", "reconcile", "--help")).stdout).toContain(
      "webhooks reconcile --dry-run",
    );
  });
});

describe("subscriptions dismiss", () => {
  it("takes a flagged subscription off the review list, with the operator's reason", async () => {
    await test.rows("update subscription set out_of_order = true where id = $1", [id]);
    const command = ["subscriptions", "dismiss", id, "--reason", "refunded by hand"];
    expect(await tollgate(...command)).toEqual({
      code: 0,
      stdout: `subscription ${id}: dismissed\n`,
      stderr: "",
    });
    expect(await test.rows("select by, reason from reconciliation where subscription_id = $1", [id])).toEqual(
      [{ by: "operator", reason: "refunded by hand" }],
    );
    expect(await tollgate(...command)).toMatchObject({ code: 1, stdout: "" });
  });

  it("requires a reason", async () => {
    expect(await tollgate("subscriptions", "dismiss", id)).toMatchObject({ code: 2, stdout: "" });
  });
});

describe("POST /api/subscriptions/:id/reconcile", () => {
  const reconcile = (cookie = admin.cookie) =>
    sendRequest(server.url, "POST", `/api/subscriptions/${id}/reconcile`, { cookie });

  it("returns the corrected subscription, and records who requested it", async () => {
    truth({ seats: 4, status: "past_due" });
    await test.rows("update subscription set out_of_order = true where id = $1", [id]);
    const answer = await reconcile();
    expect([answer.status, answer.body]).toMatchObject([
      200,
      { id, userId: person.id, seats: 4, status: "past_due", outOfOrder: false },
    ]);
    expect(
      await test.rows("select by, user_id, changes from reconciliation where subscription_id = $1", [id]),
    ).toEqual([
      {
        by: "administrator",
        user_id: admin.id,
        changes: { seats: [1, 4], status: ["active", "past_due"], outOfOrder: [true, false] },
      },
    ]);
    const history = await sendRequest(server.url, "GET", `/api/subscriptions/${id}/history`, {
      cookie: person.cookie,
    });
    expect(history.body.history[0]).toMatchObject({ source: "reconcile", changes: { seats: [1, 4] } });
  });

  it("returns 409 without a change when the provider does not know it, 503 when it is unreachable", async () => {
    stripe.subscriptions.clear();
    const unknown = await reconcile();
    expect([unknown.status, unknown.body]).toEqual([
      409,
      { error: "Nothing was changed: the provider knows no subscription by this id" },
    ]);
    stripe.interfere(async () => ({ status: 503 }));
    const away = await reconcile();
    expect([away.status, away.body]).toEqual([
      503,
      { error: "The payment provider cannot be reached: try again in a minute" },
    ]);
    expect(await seats()).toBe(1);
  });

  it("requires an administrator", async () => {
    expect((await reconcile(person.cookie)).status).toBe(403);
  });
});
