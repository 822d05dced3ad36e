import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { freshServer } from "../../support/fresh-server.ts";
import { sendRequest } from "../../support/http.ts";
import { createAdmin, createUser, type TestUser } from "../../support/people.ts";
import { createSubscription } from "../../support/subscriptions.ts";
import { queryGraphql, refusals } from "./query-graphql.ts";

const { test, server } = freshServer({ users: 3 });
let admin: TestUser;
let person: TestUser;

beforeAll(async () => {
  admin = await createAdmin(test);
  person = await createUser(test);
});

const SUBSCRIPTION =
  "id userId provider providerSubscriptionId planId seats status currentPeriodEnd cancelAtPeriodEnd outOfOrder createdAt updatedAt";

const subscribed = (userId: string) =>
  createSubscription(test, userId, {
    plan_id: "team",
    seats: 7,
    status: "past_due",
    current_period_end: "2030-01-31T00:00:00Z",
  });

async function delivered(status = "failed"): Promise<string> {
  const [row] = await test.rows<{ id: string }>(
    `insert into webhook_delivery (provider, event_id, event_type, format, status, claim_source, payload)
     values ('provider-a', $1, 'x', 'stripe', $2, 'delivery', '{"some":["json"]}') returning id::text`,
    [randomUUID(), status],
  );
  return row?.id as string;
}

/** What is an enumeration here is spelt as GraphQL spells it. */
const spelt = (text: string) => text.replaceAll("-", "_").toUpperCase();

describe("queries", () => {
  it("return the same data as REST", async () => {
    const { cookie } = person;
    await subscribed(person.id);
    await subscribed(person.id);
    await test.rows("insert into notification (user_id, kind, details) values ($1, 'role_changed', $2)", [
      person.id,
      JSON.stringify({ role: "admin" }),
    ]);
    const [me, subscriptions, plans, notifications] = await Promise.all(
      ["users/me", "subscriptions?limit=1", "plans?limit=2", "notifications"].map(
        async (path) => (await sendRequest(server.url, "GET", `/api/v2/${path}`, { cookie })).body,
      ),
    );
    const { body } = await queryGraphql(
      server.url,
      `{ me { id name email emailVerified role locale preferences { theme emailNotifications } onboarded createdAt updatedAt }
         subscriptions(limit: 1) { items { ${SUBSCRIPTION} } nextCursor }
         plans(limit: 2) { items { id name price { amount currency interval } features seats { min max } } nextCursor }
         notifications { items { id kind details createdAt readAt } nextCursor } unreadCount
         features { name planIds } currentSubscription { planId } }`,
      { cookie },
    );
    expect(body.errors).toBeUndefined();
    expect(body.data.me).toEqual({
      ...me,
      role: spelt(me.role),
      locale: spelt(me.locale),
      preferences: { ...me.preferences, theme: spelt(me.preferences.theme) },
    });
    expect(body.data.subscriptions).toEqual({
      items: subscriptions.data.map((subscription: { status: string; provider: string }) => ({
        ...subscription,
        status: spelt(subscription.status),
        provider: spelt(subscription.provider),
      })),
      nextCursor: subscriptions.nextCursor,
    });
    expect(body.data.subscriptions.nextCursor).toEqual(expect.any(String));
    expect(body.data.plans.items.map(({ id }: { id: string }) => id)).toEqual(
      plans.data.map(({ id }: { id: string }) => id),
    );
    expect(body.data.notifications).toEqual({
      items: notifications.data.map((notification: { kind: string }) => ({
        ...notification,
        kind: spelt(notification.kind),
      })),
      nextCursor: null,
    });
    expect(body.data.unreadCount).toBe(notifications.data.length);
    expect(body.data.features).toContainEqual({ name: expect.any(String), planIds: expect.any(Array) });
    expect(body.data.currentSubscription).toEqual({ planId: "team" });

    const next = await queryGraphql(
      server.url,
      "query ($cursor: String) { subscriptions(cursor: $cursor) { items { id } nextCursor } }",
      { cookie, variables: { cursor: body.data.subscriptions.nextCursor } },
    );
    expect(next.body.data.subscriptions).toEqual({ items: [{ id: expect.any(String) }], nextCursor: null });
  });

  it("return deliveries to an administrator, with details for a single one", async () => {
    const id = await delivered();
    const { body } = await queryGraphql(
      server.url,
      `query ($id: ID!) {
         deliveries(limit: 5, provider: PROVIDER_A, status: FAILED, type: "x") { items { id status provider lastError lastReason } nextCursor }
         delivery(id: $id) { id payload attemptLog { outcome } receivedAt completedAt }
       }`,
      { cookie: admin.cookie, variables: { id } },
    );
    expect(body.errors).toBeUndefined();
    expect(body.data.deliveries.items).toContainEqual({
      id,
      status: "FAILED",
      provider: "PROVIDER_A",
      lastError: null,
      lastReason: null,
    });
    expect(body.data.delivery).toMatchObject({ id, payload: { some: ["json"] }, attemptLog: [] });
  });

  it("return the permitted fields beside errors for the others", async () => {
    const othersId = await subscribed(person.id);
    const nobody = await queryGraphql(
      server.url,
      "{ me { id } plans { items { id } } deliveries { nextCursor } unreadCount }",
    );
    expect(nobody.status).toBe(200);
    expect(nobody.body.data).toMatchObject({ me: null, deliveries: null, unreadCount: null });
    expect(nobody.body.data.plans.items.length).toBeGreaterThan(1);
    expect(refusals(nobody)).toEqual({
      me: "UNAUTHENTICATED",
      deliveries: "UNAUTHENTICATED",
      unreadCount: "UNAUTHENTICATED",
    });

    const another = await createUser(test);
    const foreign = await queryGraphql(
      server.url,
      `{ theirs: subscription(id: "${othersId}") { id } none: subscription(id: "${randomUUID()}") { id }
         bad: subscription(id: "1 or 1=1") { id } deliveries { nextCursor } plans(limit: 101) { nextCursor } }`,
      { cookie: another.cookie },
    );
    expect(refusals(foreign)).toEqual({
      theirs: "NOT_FOUND",
      none: "NOT_FOUND",
      bad: "BAD_USER_INPUT",
      deliveries: "FORBIDDEN",
      plans: "BAD_USER_INPUT",
    });
    const messages = foreign.body.errors.map(({ message }: { message: string }) => message);
    expect(messages).toContain("limit: expected at most 100");
  });
});

describe("mutations", () => {
  it("change only the fields of the profile that are sent", async () => {
    const { cookie } = await createUser(test, "Before");
    const { body } = await queryGraphql(
      server.url,
      `mutation ($preferences: PreferencesInput) {
         a: updateProfile(name: "After", locale: null) { name locale }
         b: updateProfile(preferences: $preferences) { name preferences { theme emailNotifications } }
         c: setLocale(locale: ES) { locale onboarded }
         d: completeOnboarding { locale onboarded }
       }`,
      { cookie, variables: { preferences: { theme: "DARK", emailNotifications: null } } },
    );
    expect(body).toEqual({
      data: {
        a: { name: "After", locale: "EN" },
        b: { name: "After", preferences: { theme: "DARK", emailNotifications: true } },
        c: { locale: "ES", onboarded: false },
        d: { locale: "ES", onboarded: true },
      },
    });
  });

  it("run in order, also after one that is refused", async () => {
    const { id, cookie } = await createUser(test);
    const response = await queryGraphql(
      server.url,
      `mutation { first: updateProfile(name: "One") { name } bad: updateProfile(name: "") { name }
         last: updateProfile(name: "Three") { name } }`,
      { cookie },
    );
    expect(response.body.data).toEqual({ first: { name: "One" }, bad: null, last: { name: "Three" } });
    expect(refusals(response)).toEqual({ bad: "BAD_USER_INPUT" });
    expect(response.body.errors[0].message).toMatch(/^name: /);
    expect(await test.rows(`select name from "user" where id = $1`, [id])).toEqual([{ name: "Three" }]);
  });

  it("create and revoke keys, but not for a caller with a key", async () => {
    const { cookie } = await createUser(test);
    const created = await queryGraphql(
      server.url,
      `mutation { createApiKey(name: "CI", expiresAt: "2099-01-31T00:00:00Z") { id key prefix name createdAt } }`,
      { cookie },
    );
    const { id, key } = created.body.data.createApiKey;
    expect(key).toMatch(/^tg_[A-Za-z0-9]{40}$/);

    const byKey = await queryGraphql(server.url, "{ me { id } apiKeys { items { id expiresAt } } }", { key });
    expect(byKey.body.data.apiKeys.items).toEqual([{ id, expiresAt: "2099-01-31T00:00:00.000Z" }]);
    const refused = await queryGraphql(
      server.url,
      `mutation { createApiKey(name: "more") { id } revokeApiKey(id: "${id}") }`,
      { key },
    );
    expect(refusals(refused)).toEqual({ createApiKey: "FORBIDDEN", revokeApiKey: "FORBIDDEN" });

    const badTime = await queryGraphql(
      server.url,
      `mutation { createApiKey(name: "CI", expiresAt: "tomorrow") { id } }`,
      { cookie },
    );
    expect(badTime.body.errors[0]).toMatchObject({
      message: "expiresAt: expected a time such as 2030-01-31T00:00:00Z",
      extensions: expect.objectContaining({ code: "BAD_USER_INPUT" }),
    });

    const revoked = await queryGraphql(server.url, `mutation { revokeApiKey(id: "${id}") }`, { cookie });
    expect(revoked.body).toEqual({ data: { revokeApiKey: true } });
    const after = await queryGraphql(server.url, "{ me { id } }", { key });
    expect(after.status).toBe(401);
    expect(after.headers.get("www-authenticate")).toMatch(/^Bearer/);
    expect(after.body).toEqual({
      errors: [
        { message: expect.any(String), extensions: expect.objectContaining({ code: "UNAUTHENTICATED" }) },
      ],
    });
  });

  it("mark notifications as read", async () => {
    const { id, cookie } = await createUser(test);
    const inserted = await test.rows<{ id: string }>(
      `insert into notification (user_id, kind) select $1, 'role_changed' from generate_series(1, 3) returning id::text`,
      [id],
    );
    const { body } = await queryGraphql(
      server.url,
      `mutation { markRead(id: "${inserted[0]?.id}") { readAt } markAllRead }`,
      { cookie },
    );
    expect(body.data).toEqual({ markRead: { readAt: expect.any(String) }, markAllRead: 2 });
  });

  it("let only administrators change roles, delete users, replay and reconcile", async () => {
    const someone = await createUser(test);
    const deliveryId = await delivered("successful");
    const subscriptionId = await subscribed(someone.id);
    const leaving = await createUser(test);
    const query = `mutation ($user: ID!, $leaving: ID!, $confirmation: String!, $delivery: ID!, $subscription: ID!) {
      changeRole(userId: $user, role: ADMIN) { role }
      replayDelivery(id: $delivery) { outcome }
      reconcileSubscription(id: $subscription) { id }
      deleteUser(userId: $leaving, confirmation: $confirmation)
    }`;
    const variables = {
      user: someone.id,
      leaving: leaving.id,
      confirmation: leaving.email,
      delivery: deliveryId,
      subscription: subscriptionId,
    };
    const fields = ["changeRole", "replayDelivery", "reconcileSubscription", "deleteUser"];

    const refused = await queryGraphql(server.url, query, { cookie: person.cookie, variables });
    expect(refusals(refused)).toEqual(Object.fromEntries(fields.map((field) => [field, "FORBIDDEN"])));

    const response = await queryGraphql(server.url, query, { cookie: admin.cookie, variables });
    expect(response.body.data).toMatchObject({ changeRole: { role: "ADMIN" }, deleteUser: true });
    expect(refusals(response)).toMatchObject({ replayDelivery: "CONFLICT" });
    expect(await test.rows(`select from "user" where id = $1`, [leaving.id])).toEqual([]);
  });

  it("refuse a plan that is not sold", async () => {
    const response = await queryGraphql(
      server.url,
      `mutation { free: createCheckout(planId: "free") none: createCheckout(planId: "gold", seats: 2, provider: PROVIDER_B) }`,
      { cookie: person.cookie },
    );
    expect(refusals(response)).toEqual({ free: "BAD_USER_INPUT", none: "BAD_USER_INPUT" });
  });

  it("delete the caller's account when the email address is typed", async () => {
    const { cookie, email } = await createUser(test);
    const wrong = await queryGraphql(
      server.url,
      `mutation { deleteAccount(confirmation: "other@example.com") }`,
      { cookie },
    );
    expect(refusals(wrong)).toEqual({ deleteAccount: "BAD_USER_INPUT" });
    const right = await queryGraphql(
      server.url,
      `mutation ($e: String!) { deleteAccount(confirmation: $e) }`,
      {
        cookie,
        variables: { e: email },
      },
    );
    expect(right.body).toEqual({ data: { deleteAccount: true } });
    expect(refusals(await queryGraphql(server.url, "{ me { id } }", { cookie }))).toEqual({
      me: "UNAUTHENTICATED",
    });
  });
});
