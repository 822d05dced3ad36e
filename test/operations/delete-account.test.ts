import { beforeAll, describe, expect, it } from "vitest";
import { redactDeleted } from "../../src/accounts/redact-deleted.ts";
import { OPERATOR } from "../../src/domain/callers/caller.ts";
import { EVENT_KINDS } from "../../src/domain/events/payment-event.ts";
import { refuse } from "../../src/domain/refusals/refusal.ts";
import { changeRole } from "../../src/operations/users/change-role.ts";
import { deleteAccount } from "../../src/operations/users/delete-account.ts";
import { deleteUser } from "../../src/operations/users/delete-user.ts";
import type { WireFormat } from "../../src/providers/adapter.ts";
import { ADAPTERS, wireFormats } from "../../src/providers/registry.ts";
import type { RunningSubscription } from "../../src/store/accounts/account-deletion.ts";
import { DatabaseUnavailable, type Queryable } from "../../src/store/database.ts";
import { fixtureDelivery, loadFixture, type SignedDelivery, signedDelivery } from "../fixtures/fixture.ts";
import type { FixtureOverrides } from "../fixtures/overrides.ts";
import { eventually } from "../support/eventually.ts";
import { freshServer } from "../support/fresh-server.ts";
import { deliverWebhook, sendRequest } from "../support/http.ts";
import { createUser, type TestUser } from "../support/people.ts";
import { startTestServer } from "../support/server.ts";
import { createSubscription } from "../support/subscriptions.ts";
import { GENEROUS_LIMITS, SECRETS } from "../support/variables.ts";
import { findInAllTables } from "./find-in-all-tables.ts";
import {
  ANONYMOUS,
  apiKey,
  createTestContext,
  refusalOf,
  session,
  type TestContext,
} from "./test-context.ts";

const secret = SECRETS["provider-a"];
const nowSeconds = () => Math.floor(Date.now() / 1000);

describe.each(wireFormats())("deleting an account with a paid subscription in the format %s", (format) => {
  const { test, server } = freshServer({ variables: { PROVIDER_A_ADAPTER: format } });
  let context: TestContext;
  let person: TestUser;
  let neighbour: TestUser;
  const canceled: RunningSubscription[] = [];
  beforeAll(async () => {
    context = createTestContext(test, {
      cancelSubscription: async (subscription) => void canceled.push(subscription),
    });
    person = await createUser(test, "Zebediah Quxley");
    neighbour = await createUser(test, "Somebody Else");
    await leaveTraces(person, 7_000_001);
    await leaveTraces(neighbour, 7_000_002);
  }, 60_000);

  /**
   * Creates everything that a user can leave behind: a key, a mailed link, events of every kind and failing
   * ones.
   */
  async function leaveTraces(user: TestUser, n: number): Promise<void> {
    const key = await sendRequest(server.url, "POST", "/api/api-keys", {
      body: { name: user.name },
      cookie: user.cookie,
    });
    expect(key.status).toBe(201);
    expect((await sendRequest(server.url, "GET", "/api/users/me", { key: key.body.key })).status).toBe(200);
    await sendRequest(server.url, "POST", "/api/auth/request-password-reset", {
      body: { email: user.email },
    });
    const ids = { subscriptionId: idOf(format, "sub", n), customerId: idOf(format, "cus", n) };
    for (const kind of EVENT_KINDS) {
      await send(eventOf(user, kind, { ...ids, ...(kind.endsWith("updated") ? { status: "active" } : {}) }));
    }
    // Restored: a deleted account with a paid subscription.
    await send(eventOf(user, "customer.subscription.updated", { ...ids, status: "active" }));
    await send(eventOf(user, "customer.subscription.updated", { ...ids, userId: null, status: "active" }));
    await send(
      eventOf(user, "customer.subscription.updated", { ...ids, userId: null, eventType: "else.happened" }),
    );
    const unpaid = { ...ids, customerId: idOf(format, "cus", n + 10), subscriptionId: null };
    await send(eventOf(user, "checkout.session.completed", { ...unpaid, eventType: "checkout.abandoned" }));
    await send(
      eventOf(user, "checkout.session.completed", { ...unpaid, userId: null, eventType: "card.declined" }),
    );
    await send(
      eventOf(user, "customer.subscription.updated", { ...ids, planId: "gold", priceId: "gold" }),
      500,
    );
    await sendRequest(server.url, "POST", `/api/webhooks/provider-a`, { body: "{}" });
  }

  /** As providers do, with the name and the address somewhere within. */
  function eventOf(user: TestUser, kind: string, overrides: FixtureOverrides): SignedDelivery {
    events += 1;
    const eventId = `evt_${events}`;
    const { body } = coherent(
      // Each later than the one before: only a newer event revives an ended subscription.
      loadFixture(format, kind, {
        userId: user.id,
        planId: "pro",
        eventId,
        occurredAt: new Date(Date.UTC(2026, 2, 1) + events * 60_000),
        ...overrides,
      }).body,
    );
    (body.data as Record<string, unknown>).billing_details = { name: user.name, email: user.email };
    return signedDelivery(format, body, { secret, nowSeconds: nowSeconds(), eventId });
  }
  let events = 0;

  async function send(delivery: SignedDelivery, status = 200): Promise<void> {
    const response = await deliverWebhook(server.url, "provider-a", delivery);
    const expected = format === "polar" && status === 500 ? 200 : status;
    expect(response.status, JSON.stringify(response.body)).toBe(expected);
  }

  const namesOf = (user: TestUser, n: number) => [
    user.email,
    user.name,
    idOf(format, "cus", n),
    idOf(format, "cus", n + 10),
  ];
  const payloads = (user: TestUser) =>
    test.rows("select id from webhook_delivery where payload::text like $1", [`%${user.email}%`]);

  it("removes every trace of the user, and nothing of others", async () => {
    for (const name of [person.id, ...namesOf(person, 7_000_001)]) {
      expect(await findInAllTables(test, name), name).not.toEqual([]);
    }
    await postponeRetries();
    const before = await everythingOf(neighbour);
    const events = (await payloads(neighbour)).length;
    expect((await payloads(person)).length).toBe(events);

    const deleted = await context.call(deleteAccount, session(person.id), {
      confirmation: ` ${person.email.toUpperCase()} `,
    });
    expect(deleted).toEqual({ success: true });
    expect(canceled).toMatchObject([
      { provider: "provider-a", providerSubscriptionId: idOf(format, "sub", 7_000_001), status: "active" },
    ]);
    expect(await findInAllTables(test, person.id)).toEqual([
      "audit_entry.actor_id",
      "audit_entry.target_id",
      "deleted_user.id",
      "outbound_event.data",
    ]);
    for (const name of namesOf(person, 7_000_001))
      expect(await findInAllTables(test, name), name).toEqual([]);

    expect((await payloads(neighbour)).length).toBe(events);
    expect(await everythingOf(neighbour)).toEqual(before);
    expect((await sendRequest(server.url, "GET", "/api/users/me", { cookie: person.cookie })).status).toBe(
      401,
    );
    expect((await sendRequest(server.url, "GET", "/api/users/me", { cookie: neighbour.cookie })).status).toBe(
      200,
    );
  });

  /** A retry changes its delivery whenever it is due. */
  async function postponeRetries(): Promise<void> {
    const postpone = async () => {
      await test.rows(`update webhook_delivery set next_attempt_at = clock_timestamp() + interval '1 day'
        where status = 'failed' and next_attempt_at is not null`);
      return test.rows(`select id from webhook_delivery
        where status = 'pending' or next_attempt_at < clock_timestamp() + interval '1 hour'`);
    };
    await eventually(postpone, []);
  }

  it("accepts the user's later events without error, and stores none of their data", async () => {
    const ids = {
      subscriptionId: idOf(format, "sub", 7_000_001),
      customerId: idOf(format, "cus", 7_000_001),
    };
    await send(
      eventOf(person, "customer.subscription.updated", { ...ids, userId: null, status: "past_due" }),
    );
    await send(eventOf(person, "customer.subscription.deleted", ids));
    await send(
      eventOf(person, "customer.subscription.created", { ...ids, subscriptionId: idOf(format, "sub", 1) }),
    );
    expect(await findInAllTables(test, person.id)).toEqual([
      "audit_entry.actor_id",
      "audit_entry.target_id",
      "deleted_user.id",
      "outbound_event.data",
    ]);
    for (const name of namesOf(person, 7_000_001))
      expect(await findInAllTables(test, name), name).toEqual([]);
    const ownRows = await test.rows(
      "select user_id, customer_id, status from subscription where provider_subscription_id = $1",
      [ids.subscriptionId],
    );
    expect(ownRows).toEqual([{ user_id: null, customer_id: null, status: "canceled" }]);
  });

  it("frees the email address for a new account", async () => {
    const { email, password, name } = person;
    const response = await sendRequest(server.url, "POST", "/api/auth/sign-up/email", {
      body: { name, email, password },
    });
    expect(response.status).toBe(200);
    expect(response.body.user.id).not.toBe(person.id);
  });

  async function everythingOf(user: TestUser): Promise<unknown[]> {
    return Promise.all(
      [
        `select * from "user" where id = $1`,
        "select * from session where user_id = $1 order by id",
        "select * from account where user_id = $1",
        "select * from verification where value = $1",
        "select * from api_key where user_id = $1",
        "select * from notification where user_id = $1 order by id",
        "select * from subscription where user_id = $1 order by id",
        "select id, status, last_error, next_attempt_at, payload::text from webhook_delivery where payload::text like '%' || $1 || '%' order by id",
      ].map((text) => test.rows(text, [user.id])),
    );
  }
});

/** Polar repeats the customer's id within what it nests. */
function coherent(body: Record<string, unknown>): { body: Record<string, unknown> } {
  const { customer, customer_id: id } = body.data as { customer?: { id: string }; customer_id?: string };
  if (!customer) return { body };
  return { body: JSON.parse(JSON.stringify(body).replaceAll(customer.id, id as string)) };
}

/** Lemon Squeezy's ids are numbers. */
function idOf(format: WireFormat, kind: string, n: number): string {
  return format === "lemon-squeezy" ? String(n + (kind === "cus" ? 500_000 : 0)) : `${kind}_${n}`;
}

const deletionOf = (userId: string) => ({ userId, confirmation: `${userId}@example.com` });

describe("deleting an account", () => {
  const { test, server } = freshServer({ users: 40 });
  const context = createTestContext(test);

  const confirmation = (userId: string) => ({ confirmation: `${userId}@example.com` });
  const isThere = async (userId: string) =>
    (await test.rows(`select from "user" where id = $1`, [userId])).length === 1;
  const subscribe = (userId: string, overrides: FixtureOverrides = {}) =>
    deliverWebhook(
      server.url,
      "provider-a",
      fixtureDelivery("stripe", "customer.subscription.created", {
        secret,
        nowSeconds: nowSeconds(),
        eventId: `evt_${userId}_${overrides.subscriptionId ?? ""}`,
        subscriptionId: `sub_${userId}`,
        customerId: `cus_${userId}`,
        userId,
        planId: "pro",
        priceId: "price_pro_monthly",
        status: "active",
        ...overrides,
      }),
    );

  it("requires the owner's session and the typed email address", async () => {
    const refused = async (caller: Parameters<TestContext["call"]>[1], input: unknown) =>
      refusalOf(context.call(deleteAccount, caller, input));
    expect((await refused(apiKey("user_0"), confirmation("user_0"))).code).toBe("forbidden");
    expect((await refused(ANONYMOUS, confirmation("user_0"))).code).toBe("unauthorized");
    for (const wrong of [
      {},
      { confirmation: "" },
      { confirmation: "yes" },
      confirmation("user_1"),
      { confirmation: "x".repeat(321) },
    ]) {
      const refusal = await refused(session("user_0"), wrong);
      expect(refusal.code).toBe("invalid_input");
      expect(refusal.message).toMatch(/^confirmation: /);
    }
    expect(await isThere("user_0")).toBe(true);
    await context.call(deleteAccount, session("user_0"), confirmation("user_0"));
    expect(await isThere("user_0")).toBe(false);
    expect((await refused(session("user_0"), confirmation("user_0"))).code).toBe("not_found");
  });

  it("is allowed to an administrator who types the email address, and refused to other users", async () => {
    const input = deletionOf("user_2");
    for (const caller of [session("user_1"), apiKey("user_1", "admin")]) {
      expect((await refusalOf(context.call(deleteUser, caller, input))).code).toBe("forbidden");
    }
    const admin = session("user_1", "admin");
    const unconfirmed = { ...input, ...confirmation("user_1") };
    for (const caller of [admin, OPERATOR]) {
      expect((await refusalOf(context.call(deleteUser, caller, unconfirmed))).code).toBe("invalid_input");
    }
    expect(await isThere("user_2")).toBe(true);
    expect(await context.call(deleteUser, admin, input)).toEqual({ success: true });
    expect(await isThere("user_2")).toBe(false);
    expect((await refusalOf(context.call(deleteUser, OPERATOR, input))).code).toBe("not_found");
    expect((await refusalOf(context.call(deleteUser, OPERATOR, deletionOf("a\0b")))).code).toBe(
      "invalid_input",
    );
  });

  it("is refused for the last administrator, whoever requests it", async () => {
    await test.rows(`update "user" set role = 'admin' where id in ('user_3', 'user_4')`);
    await test.rows(`update "user" set banned = true where id = 'user_4'`);
    const refusal = await refusalOf(
      context.call(deleteAccount, session("user_3", "admin"), confirmation("user_3")),
    );
    expect(refusal.code).toBe("conflict");
    expect((await refusalOf(context.call(deleteUser, OPERATOR, deletionOf("user_3")))).code).toBe("conflict");
    await context.call(deleteUser, OPERATOR, deletionOf("user_4"));
    expect(await isThere("user_3")).toBe(true);
  });

  it("closes no checkout of the last administrator", async () => {
    await test.rows(`update "user" set role = case id when 'user_3' then 'admin' else 'user' end`);
    const { call, done } = withCheckout();
    const deleting = call(deleteAccount, session("user_3", "admin"), confirmation("user_3"));
    expect([(await refusalOf(deleting)).code, done]).toEqual(["conflict", []]);
  });

  /** @param failing which step the provider refuses */
  function withCheckout(failing?: "cancel" | "close") {
    const done: string[] = [];
    const step = (name: string) => async () => {
      if (name === failing) return refuse({ reason: "checkout_not_closed" });
      done.push(name);
    };
    const { call } = createTestContext(test, {
      cancelSubscription: step("cancel"),
      holdCheckout: async () => ({ close: () => step("close")().then(() => []), release: step("release") }),
    });
    return { call, done };
  }

  it("closes no checkout when a subscription cannot be canceled", async () => {
    await subscribe("user_11");
    const { call, done } = withCheckout("cancel");
    const refusal = await refusalOf(call(deleteAccount, session("user_11"), confirmation("user_11")));
    expect([refusal.code, done]).toEqual(["unavailable", ["release"]]);
    expect(await isThere("user_11")).toBe(true);
  });

  it("is refused when the checkout cannot be closed, but not once a subscription has been canceled", async () => {
    const { call, done } = withCheckout("close");
    const refusal = await refusalOf(call(deleteAccount, session("user_12"), confirmation("user_12")));
    expect([refusal.code, done]).toEqual(["unavailable", ["release"]]);
    expect(await isThere("user_12")).toBe(true);
    await subscribe("user_12");
    await call(deleteAccount, session("user_12"), confirmation("user_12"));
    expect(done).toEqual(["release", "cancel", "release"]);
    expect(await isThere("user_12")).toBe(false);
  });

  it("keeps one administrator when all others are deleted or demoted at the same moment", async () => {
    for (let round = 0; round < 15; round += 1) {
      const ids = [0, 1, 2].map((n) => `admin_${round}_${n}`);
      await test.rows(`update "user" set role = 'user'`);
      await test.rows(
        `insert into "user" (id, name, email, role) select id, id, id || '@example.com', 'admin' from unnest($1::text[]) id`,
        [ids],
      );
      const outcomes = await Promise.all(
        ids.map((userId, n) => {
          const calling =
            (n + round) % 3 === 0
              ? context.call(changeRole, OPERATOR, { userId, role: "user" })
              : context.call(deleteUser, OPERATOR, deletionOf(userId));
          return calling.then(
            () => "done",
            ({ code }) => code,
          );
        }),
      );
      expect(outcomes.sort()).toEqual(["conflict", "done", "done"]);
      expect(await test.rows(`select id from "user" where role = 'admin'`)).toHaveLength(1);
    }
  });

  it.each(["trialing", "active", "past_due", "paused", "unpaid"] as const)(
    "is refused when the %s subscription cannot be canceled",
    async (status) => {
      await subscribe("user_5", { status, subscriptionId: `sub_${status}` });
      const before = await test.rows("select * from subscription where user_id = 'user_5' order by id");
      const failing = createTestContext(test, {
        cancelSubscription: () => Promise.reject(new Error("the provider is away")),
      });
      for (const { call } of [context, failing]) {
        const refusal = await refusalOf(call(deleteAccount, session("user_5"), confirmation("user_5")));
        expect(refusal).toEqual({
          code: "unavailable",
          message: "The subscription could not be canceled at the payment provider: cancel it there first",
        });
      }
      expect(await isThere("user_5")).toBe(true);
      expect(await test.rows("select * from subscription where user_id = 'user_5' order by id")).toEqual(
        before,
      );
      expect(await test.rows("select from deleted_user where id = 'user_5'")).toEqual([]);
      await test.rows("delete from subscription where user_id = 'user_5'");
    },
  );

  it.each(["incomplete", "canceled"] as const)(
    "needs no provider when the subscription is %s",
    async (status) => {
      const userId = status === "canceled" ? "user_6" : "user_7";
      await subscribe(userId, { status });
      await context.call(deleteAccount, session(userId), confirmation(userId));
      expect(await isThere(userId)).toBe(false);
    },
  );

  it("also cancels a subscription that was bought meanwhile", async () => {
    await subscribe("user_8", { subscriptionId: "first" });
    const canceled: (string | null)[] = [];
    const { call } = createTestContext(test, {
      cancelSubscription: async ({ providerSubscriptionId }) => {
        canceled.push(providerSubscriptionId);
        if (providerSubscriptionId === "first") await subscribe("user_8", { subscriptionId: "second" });
      },
    });
    await call(deleteAccount, session("user_8"), confirmation("user_8"));
    expect(canceled).toEqual(["first", "second"]);
    expect(await isThere("user_8")).toBe(false);
  });

  it("gives up when new subscriptions keep being bought", async () => {
    let bought = 0;
    await subscribe("user_9", { subscriptionId: "endless" });
    const { call } = createTestContext(test, {
      cancelSubscription: async () => {
        bought += 1;
        await subscribe("user_9", { subscriptionId: `endless_${bought}` });
      },
    });
    const refusal = await refusalOf(call(deleteAccount, session("user_9"), confirmation("user_9")));
    expect(refusal.code).toBe("unavailable");
    expect(await isThere("user_9")).toBe(true);
  });

  it("takes the person from payments, and from those of another slot's subscription of the same id nobody", async () => {
    const number = { provider_subscription_id: "4711", status: "canceled" };
    await createSubscription(test, "user_13", number);
    await test.rows(
      `insert into payment (provider, provider_payment_id, provider_subscription_id, user_id, amount, currency, state, status,
         receipt_url, occurred_at)
       select provider, user_id, '4711', nullif(user_id, 'user_13'), 900, 'EUR', 'paid', 'paid', 'https://example.com', now()
       from (values ('provider-a', 'user_13'), ('provider-b', 'user_14')) as paid (provider, user_id)`,
    );
    await context.call(deleteUser, OPERATOR, deletionOf("user_13"));
    const payments =
      "select user_id, receipt_url from payment where provider_subscription_id = '4711' order by provider";
    expect(await test.rows(payments)).toEqual([
      { user_id: null, receipt_url: null },
      { user_id: "user_14", receipt_url: "https://example.com" },
    ]);
  });

  it("is done although the database fails while the log is redacted, which a job continues", async () => {
    const run: Queryable["run"] = (statement, values) =>
      statement.name === "open_redactions"
        ? Promise.reject(new DatabaseUnavailable("connection lost"))
        : test.database.run(statement, values);
    const { call } = createTestContext({ database: { ...test.database, run } });
    expect(await call(deleteAccount, session("user_15"), confirmation("user_15"))).toEqual({ success: true });
    expect(await isThere("user_15")).toBe(false);
  });

  it("happens once for simultaneous requests", async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 6 }, () =>
        context.call(deleteUser, OPERATOR, deletionOf("user_10")).then(
          () => "done",
          ({ code }) => code,
        ),
      ),
    );
    expect(outcomes.sort()).toEqual(["done", ...Array.from({ length: 5 }, () => "not_found")]);
  });

  it("does not fail events that are applied at the same moment, and they restore nothing", {
    timeout: 300_000,
  }, async () => {
    const people = Array.from({ length: 20 }, (_, n) => `user_${20 + n}`);
    const otherServer = await startTestServer(test.url, GENEROUS_LIMITS);
    const { call } = createTestContext(test, { cancelSubscription: async () => {} });
    let leaving = Promise.resolve<unknown>(undefined);
    const responses = await Promise.all(
      Array.from({ length: 400 }, async (_, n) => {
        const userId = people[n % people.length] as string;
        if (n === 150) {
          const leave = (id: string) => call(deleteAccount, session(id), confirmation(id));
          leaving = Promise.all(people.map((id) => untilAvailable(() => leave(id))));
        }
        await new Promise((resolve) => setTimeout(resolve, n));
        return deliverUntilAvailable(
          (n % 2 ? server : otherServer).url,
          fixtureDelivery("stripe", "customer.subscription.updated", {
            secret,
            nowSeconds: nowSeconds(),
            eventId: `stream_${n}`,
            subscriptionId: `stream_${userId}_${n % 3}`,
            customerId: `paying-${userId}-`,
            userId,
            planId: n % 4 ? "pro" : "team",
            priceId: n % 4 ? "price_pro_monthly" : "price_team_monthly",
            status: n % 5 ? "active" : "past_due",
          }),
        );
      }),
    );
    await leaving;
    expect(responses.filter(({ status }) => status !== 200).map(({ body }) => body)).toEqual([]);
    await otherServer.close();
    const { rows } = test;
    expect(await rows(`select id from "user" where id = any ($1::text[])`, [people])).toEqual([]);
    // Simultaneous runs leave rows to the one that is ahead; the job finishes the rest.
    const log = { error: () => {}, warn: () => {}, debug: () => {} };
    while (
      !(await redactDeleted({ database: test.database, intake: { adapters: ADAPTERS, log } }, () => false))
    );
    for (const userId of people) expect(await findInAllTables(test, `paying-${userId}-`)).toEqual([]);
    const deliveries = await rows("select id from webhook_delivery where payload::text like '%stream_user%'");
    expect(deliveries).toEqual([]);
    expect(await rows("select id from subscription where user_id = any ($1::text[])", [people])).toEqual([]);
  });
});

/** As a person does: no connection to the database became free in time. */
async function untilAvailable(run: () => Promise<unknown>) {
  for (;;) {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable)) throw error;
    }
  }
}

/** As a provider does: a busy server answers 503, and gets the delivery again. */
async function deliverUntilAvailable(serverUrl: string, delivery: Parameters<typeof deliverWebhook>[2]) {
  for (;;) {
    const response = await deliverWebhook(serverUrl, "provider-a", delivery);
    if (response.status !== 503) return response;
  }
}
