import type { AnyTRPCProcedure, inferRouterInputs, inferRouterOutputs } from "@trpc/server";
import { beforeAll, describe, expect, expectTypeOf, it } from "vitest";
import plans from "../../../plans.config.ts";
import type { AppRouter } from "../../../src/api/rpc/app-router.ts";
import { adminProcedure, protectedProcedure, publicProcedure } from "../../../src/api/rpc/procedures.ts";
import { appRouter } from "../../../src/api/rpc/router.ts";
import { rpc } from "../../../src/api/rpc/rpc.ts";
import { createLog } from "../../../src/observability/log.ts";
import type { Dependencies } from "../../../src/operations/dependencies.ts";
import { listPlans } from "../../../src/operations/plans/list-plans.ts";
import { changeRole } from "../../../src/operations/users/change-role.ts";
import { showProfile } from "../../../src/operations/users/show-profile.ts";
import { freshServer } from "../../support/fresh-server.ts";
import { testApp, testCallers, testLimits } from "../../support/guarded-app.ts";
import { listen, sendRequest } from "../../support/http.ts";
import { createAdmin, createUser, type TestUser } from "../../support/people.ts";
import { STRIPE_KEY } from "../../support/stripe-server.ts";
import { createSubscription } from "../../support/subscriptions.ts";
import { refusalOf, rpcClient } from "./rpc-client.ts";

/** The procedures of the contract, with their access levels. */
const OFFERED = {
  "user.me": ["query", "protected"],
  "user.updateProfile": ["mutation", "protected"],
  "user.setLocale": ["mutation", "protected"],
  "user.completeOnboarding": ["mutation", "protected"],
  "user.deleteAccount": ["mutation", "session"],
  "user.list": ["query", "admin"],
  "user.changeRole": ["mutation", "admin"],
  "user.delete": ["mutation", "admin"],
  "billing.plans": ["query", "public"],
  "billing.features": ["query", "public"],
  "billing.subscription": ["query", "protected"],
  "billing.payments": ["query", "protected"],
  "billing.entitlements": ["query", "protected"],
  "billing.check": ["query", "protected"],
  "billing.changeSubscription": ["mutation", "protected"],
  "billing.createCheckout": ["mutation", "protected"],
  "billing.openPortal": ["mutation", "session"],
  "billing.deliveries": ["query", "admin"],
  "billing.replay": ["mutation", "admin"],
  "billing.reconcile": ["mutation", "admin"],
  "billing.dismiss": ["mutation", "admin"],
  "notifications.list": ["query", "protected"],
  "notifications.unreadCount": ["query", "protected"],
  "notifications.markRead": ["mutation", "protected"],
  "serviceKeys.list": ["query", "admin"],
  "serviceKeys.create": ["mutation", "admin"],
  "serviceKeys.rotate": ["mutation", "admin"],
  "serviceKeys.revoke": ["mutation", "admin"],
} as const;

type Level = (typeof OFFERED)[keyof typeof OFFERED][1];

/**
 * The code for an input that no procedure accepts: a caller without access must not learn that it is invalid.
 */
const ANSWERED: Record<Level, Record<"nobody" | "user" | "key of an admin" | "admin", string>> = {
  public: {
    nobody: "BAD_REQUEST",
    user: "BAD_REQUEST",
    "key of an admin": "BAD_REQUEST",
    admin: "BAD_REQUEST",
  },
  protected: {
    nobody: "UNAUTHORIZED",
    user: "BAD_REQUEST",
    "key of an admin": "BAD_REQUEST",
    admin: "BAD_REQUEST",
  },
  session: {
    nobody: "UNAUTHORIZED",
    user: "BAD_REQUEST",
    "key of an admin": "FORBIDDEN",
    admin: "BAD_REQUEST",
  },
  admin: { nobody: "UNAUTHORIZED", user: "FORBIDDEN", "key of an admin": "FORBIDDEN", admin: "BAD_REQUEST" },
};

// Where nothing listens.
const PROVIDER = { PROVIDER_A_API_KEY: STRIPE_KEY, PROVIDER_A_API_URL: "http://127.0.0.1:9" };

const { test, server } = freshServer({ users: 3, variables: PROVIDER });
let user: TestUser;
let admin: TestUser;
let key: string;

beforeAll(async () => {
  user = await createUser(test);
  admin = await createAdmin(test);
  key = (await sendRequest(server.url, "POST", "/api/api-keys", { ...admin, body: { name: "CI" } })).body.key;
});

describe("the procedures", () => {
  it("match the contract", () => {
    const procedures: Record<string, unknown> = appRouter._def.procedures;
    const kinds = Object.entries(procedures as Record<string, AnyTRPCProcedure>).map(([path, { _def }]) => [
      path,
      _def.type,
    ]);
    expect(Object.fromEntries(kinds)).toEqual(
      Object.fromEntries(Object.entries(OFFERED).map(([path, [kind]]) => [path, kind])),
    );
  });

  it.each(Object.entries(OFFERED))("%s requires its access level", async (path, [kind, level]) => {
    const input = JSON.stringify({ json: { noSuchField: 1 } });
    const method = kind === "query" ? "GET" : "POST";
    const query = kind === "query" ? `?input=${encodeURIComponent(input)}` : "";
    for (const [callerKind, call] of [
      ["nobody", {}],
      ["user", { cookie: user.cookie }],
      ["key of an admin", { key }],
      ["admin", { cookie: admin.cookie }],
    ] as const) {
      const response = await sendRequest(server.url, method, `/api/trpc/${path}${query}`, {
        ...call,
        ...(kind === "mutation" ? { body: input } : {}),
      });
      expect([callerKind, response.body.error?.json.data.code]).toEqual([
        callerKind,
        ANSWERED[level][callerKind],
      ]);
      expect(response.status).toBe(response.body.error.json.data.httpStatus);
      expect(response.body.error.json.data.path).toBe(path);
      expect(response.headers.get("www-authenticate") !== null).toBe(response.status === 401);
    }
  });

  it.each([
    ["user.me", "GET"],
    ["notifications.list", "GET"],
    ["user.completeOnboarding", "POST"],
  ])("read null as no input: %s", async (path, method) => {
    const input = JSON.stringify({ json: null });
    const query = method === "GET" ? `?input=${encodeURIComponent(input)}` : "";
    const response = await sendRequest(server.url, method, `/api/trpc/${path}${query}`, {
      cookie: user.cookie,
      ...(method === "POST" ? { body: input } : {}),
    });
    expect([response.status, response.body.error]).toEqual([200, undefined]);
  });

  it("name the field that null leaves out", async () => {
    const body = JSON.stringify({ json: null });
    const response = await sendRequest(server.url, "POST", "/api/trpc/user.setLocale", { ...user, body });
    expect(response.body.error.json.message).toMatch(/^locale: /);
  });

  it("cannot have another access level than their operation", () => {
    // @ts-expect-error an operation for administrators
    expect(() => protectedProcedure.mutation(changeRole)).toThrow('users.changeRole is for "admin"');
    // @ts-expect-error an operation for administrators
    expect(() => publicProcedure.mutation(changeRole)).toThrow('not for "anyone"');
    // @ts-expect-error an operation for everybody who is signed in
    expect(() => publicProcedure.query(showProfile)).toThrow('users.me is for "person"');
    // @ts-expect-error an operation for everybody who is signed in
    expect(() => adminProcedure.query(showProfile)).toThrow('not for "admin"');
    // @ts-expect-error an operation for everybody
    expect(() => protectedProcedure.query(listPlans)).toThrow('not for "person" or "session"');
  });
});

describe("results", () => {
  it("change settings and list users for administrators (user)", async () => {
    const person = await createUser(test);
    const { user } = rpcClient(server.url, person);
    expect(await user.setLocale.mutate({ locale: "de" })).toEqual({ success: true });
    expect(await user.completeOnboarding.mutate()).toEqual({ success: true });
    expect((await sendRequest(server.url, "GET", "/api/users/me", person)).body).toMatchObject({
      locale: "de",
      onboarded: true,
    });

    const asAdmin = rpcClient(server.url, admin).user;
    expect(await asAdmin.changeRole.mutate({ userId: person.id, role: "admin" })).toMatchObject({
      role: "admin",
    });
    expect((await user.list.query({ limit: 100 })).items.map(({ id }) => id)).toContain(admin.id);
    expect(await asAdmin.changeRole.mutate({ userId: person.id, role: "user" })).toMatchObject({
      role: "user",
    });
    expect(await asAdmin.delete.mutate({ userId: person.id, confirmation: person.email })).toEqual({
      success: true,
    });
    expect(await refusalOf(user.me.query())).toEqual(["UNAUTHORIZED", "Unauthorized"]);
  });

  it("delete the account (user)", async () => {
    const person = await createUser(test);
    const { user } = rpcClient(server.url, person);
    expect(await refusalOf(user.deleteAccount.mutate({ confirmation: "nobody@example.com" }))).toMatchObject([
      "BAD_REQUEST",
      expect.stringMatching(/^confirmation: /),
    ]);
    expect(await user.deleteAccount.mutate({ confirmation: person.email })).toEqual({ success: true });
    expect(await refusalOf(user.me.query())).toEqual(["UNAUTHORIZED", "Unauthorized"]);
  });

  it("return plans and features to everybody, and the caller's subscription (billing)", async () => {
    const nobody = rpcClient(server.url).billing;
    expect((await nobody.plans.query()).items.map(({ id }) => id)).toEqual(plans.plans.map(({ id }) => id));
    const { features } = await nobody.features.query();
    expect(features).toContainEqual({ name: "1 project", planIds: ["free"] });

    const person = await createUser(test);
    const { billing } = rpcClient(server.url, person);
    expect(await billing.subscription.query()).toBeNull();
    await createSubscription(test, person.id, { seats: 2 });
    const subscription = await billing.subscription.query();
    expect(subscription).toMatchObject({ userId: person.id, planId: "pro", seats: 2, status: "active" });
    expect(subscription?.updatedAt).toBeInstanceOf(Date);
    expect(await refusalOf(billing.createCheckout.mutate({ planId: "pro", seats: 0 }))).toEqual([
      "BAD_REQUEST",
      "seats: expected at least 1",
    ]);
  });

  it("take times as they return them (billing, serviceKeys)", async () => {
    const person = await createUser(test);
    const current_period_end = "2031-01-31T00:00:00.123Z";
    const id = await createSubscription(test, person.id, { current_period_end });
    const { billing } = rpcClient(server.url, person);
    const subscription = await billing.subscription.query();
    const changeIf = (currentPeriodEnd: Date | string | null | undefined) => {
      const expected = { planId: "pro", seats: 1, currentPeriodEnd };
      const change = { planId: "team", seats: 5, when: "now" } as const;
      return refusalOf(billing.changeSubscription.mutate({ id, ...change, expected }));
    };
    // As it was: the provider is asked, which cannot be reached here.
    for (const end of [subscription?.currentPeriodEnd, current_period_end])
      expect(await changeIf(end)).toEqual(["SERVICE_UNAVAILABLE", expect.stringContaining("provider")]);
    expect(await changeIf(new Date(0))).toEqual(["CONFLICT", expect.stringContaining("since the preview")]);

    const { serviceKeys } = rpcClient(server.url, admin);
    const create = (expiresAt: Date) =>
      serviceKeys.create.mutate({ name: "Shop", permissions: ["users:read"], expiresAt });
    const expiresAt = new Date("2031-01-31T00:00:00.123Z");
    expect((await create(expiresAt)).expiresAt).toEqual(expiresAt);
    const sent = { json: { name: "Shop", permissions: ["users:read"], expiresAt: "soon" } };
    const { body } = await sendRequest(server.url, "POST", "/api/trpc/serviceKeys.create", {
      cookie: admin.cookie,
      body: { ...sent, meta: { values: { expiresAt: ["Date"] } } },
    });
    expect(body.error.json.message).toBe("expiresAt: expected a time such as 2030-01-31T00:00:00Z");
  });

  it("list and replay deliveries for administrators (billing)", async () => {
    const [row] = await test.rows<{ id: string }>(
      `insert into webhook_delivery (provider, event_id, event_type, format, status, claim_source, payload)
       values ('provider-a', 'evt_rpc', 'x', 'stripe', 'failed', 'delivery', '{}') returning id`,
    );
    const id = row?.id as string;
    const { billing } = rpcClient(server.url, admin);
    const { items } = await billing.deliveries.query({ provider: "provider-a", status: "failed" });
    expect(items).toMatchObject([{ id, eventId: "evt_rpc", receivedAt: expect.any(Date) }]);
    expect(await billing.replay.mutate({ id })).toMatchObject({ id, outcome: "ignored" });
    expect(await refusalOf(billing.replay.mutate({ id: "999999" }))).toEqual([
      "NOT_FOUND",
      "No such delivery",
    ]);
    const unknown = "0d4c2f6e-6c3b-4a53-9d0a-3f1f6a0e7b11";
    expect(await refusalOf(billing.reconcile.mutate({ id: unknown }))).toEqual([
      "NOT_FOUND",
      expect.any(String),
    ]);
  });

  it("list, count unread, and mark one or all as read (notifications)", async () => {
    const person = await createUser(test);
    await test.rows(
      `insert into notification (user_id, kind, details)
       select $1, 'subscription_activated', '{"planId":"pro"}' from generate_series(1, 3)`,
      [person.id],
    );
    const { notifications } = rpcClient(server.url, person);
    const { items } = await notifications.list.query({ limit: 2 });
    expect(items).toMatchObject([
      { details: { planId: "pro" }, readAt: null },
      { details: { planId: "pro" }, readAt: null },
    ]);
    const id = items[0]?.id as string;
    expect(await notifications.unreadCount.query()).toEqual({ count: 3 });
    expect(await notifications.markRead.mutate({ id })).toMatchObject({ id, readAt: expect.any(Date) });
    expect(await notifications.unreadCount.query()).toEqual({ count: 2 });
    expect(await notifications.markRead.mutate({ id: "all" })).toEqual({ count: 2 });
    expect(await notifications.unreadCount.query()).toEqual({ count: 0 });
    expect(await refusalOf(notifications.markRead.mutate({ id: "some" }))).toEqual([
      "BAD_REQUEST",
      "id: expected an id such as 42",
    ]);
    const ownNotifications = rpcClient(server.url, user).notifications;
    expect(await refusalOf(ownNotifications.markRead.mutate({ id }))).toEqual([
      "NOT_FOUND",
      expect.any(String),
    ]);
  });

  it("returns null from user.me when no row exists", async () => {
    const deps = { database: test.database, limits: testLimits(), observe: null } as unknown as Dependencies;
    const app = testApp("/api/trpc", rpc(deps, testCallers, createLog("silent")));
    const served = await listen(app);
    const headers = { "x-test-user": "user_that_never_was" };
    const me = await sendRequest(served.url, "GET", "/api/trpc/user.me", { headers });
    expect([me.status, me.body]).toEqual([200, { result: { data: { json: null } } }]);
    const locale = await sendRequest(served.url, "POST", "/api/trpc/user.setLocale", {
      headers,
      body: { json: { locale: "de" } },
    });
    expect([locale.status, locale.body.error.json.message]).toEqual([404, "No such user"]);
    await served.close();
  });
});

describe("the types that clients see", () => {
  type Inputs = inferRouterInputs<AppRouter>;
  type Outputs = inferRouterOutputs<AppRouter>;

  it("match the specification", () => {
    expectTypeOf<Outputs["user"]["me"]>().toEqualTypeOf<{ id: string; name: string; email: string } | null>();
    expectTypeOf<Inputs["user"]["updateProfile"]>().toEqualTypeOf<{ name: string }>();
    expectTypeOf<Outputs["user"]["updateProfile"]>().toEqualTypeOf<{ success: true }>();
    expectTypeOf<Outputs["user"]["list"]["items"][number]["createdAt"]>().toEqualTypeOf<Date>();
    expectTypeOf<undefined>().toExtend<Inputs["billing"]["plans"]>();
  });

  it("reject a wrong input at compile time", async () => {
    const client = rpcClient(server.url, user);
    const settled = await Promise.allSettled([
      // @ts-expect-error a name is text
      client.user.updateProfile.mutate({ name: 1 }),
      // @ts-expect-error a name has to be given
      client.user.updateProfile.mutate({}),
      // @ts-expect-error an input has to be given
      client.user.updateProfile.mutate(),
      // @ts-expect-error there is no such field
      client.user.updateProfile.mutate({ name: "Ada", role: "admin" }),
      // @ts-expect-error there is no such language
      client.user.setLocale.mutate({ locale: "tlh" }),
      // @ts-expect-error a limit is a number
      client.billing.plans.query({ limit: "1" }),
      // @ts-expect-error it takes no input
      client.user.me.query({ id: "somebody else" }),
    ]);
    expect(settled.map((outcome) => outcome.status === "rejected" && outcome.reason.data.code)).toEqual(
      settled.map(() => "BAD_REQUEST"),
    );
    // @ts-expect-error there is no such procedure
    expect(await refusalOf(client.user.promote.mutate())).toEqual(["NOT_FOUND", "No such procedure"]);
    // @ts-expect-error it is no query
    expect(await refusalOf(client.user.completeOnboarding.query())).toEqual([
      "METHOD_NOT_SUPPORTED",
      expect.any(String),
    ]);
    // Long inputs of queries travel by POST (`methodOverride`).
    // @ts-expect-error it is no mutation
    expect(await client.user.me.mutate()).toMatchObject({ id: expect.any(String) });
  });
});
