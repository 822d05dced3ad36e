import { createHash } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { hasBody } from "../../../../src/api/rest/input.ts";
import { ROUTES } from "../../../../src/api/rest/routes.ts";
import { sendRequest } from "../../../support/http.ts";
import { createUser } from "../../../support/people.ts";
import { BODIES, nameOf, requestTo, routeNames } from "./requests.ts";
import { belongingsOf, CONFIDENTIAL, type SecurityContext, securityContext } from "./security-context.ts";
import { type Attack, send } from "./send.ts";

const WRITES = ROUTES.filter(({ method, operation }) => hasBody(method) && operation.access !== "service");

/** Fields that a caller must not be able to set. */
const COVETED: Record<string, unknown> = {
  role: "admin",
  isAdmin: true,
  admin: true,
  roles: ["admin"],
  banned: false,
  banReason: null,
  emailVerified: true,
  email_verified: true,
  email: "somebody.else@example.com",
  password: "a new password",
  userId: "user_0",
  user_id: "user_0",
  owner: "user_0",
  createdAt: "2000-01-01T00:00:00Z",
  updatedAt: "2000-01-01T00:00:00Z",
  created_at: "2000-01-01T00:00:00Z",
  onboarded: true,
  status: "active",
  readAt: "2000-01-01T00:00:00Z",
  price: 0,
  amount: 0,
  discount: 100,
  priceId: "price_free",
  customerId: "cus_of_another",
  providerSubscriptionId: "sub_of_another",
  currentPeriodEnd: "2999-01-01T00:00:00Z",
  cancelAtPeriodEnd: false,
  outOfOrder: false,
  trial: true,
  hash: "00",
  key: `tg_${"A".repeat(40)}`,
  prefix: "tg_AAAAAAAA",
  lastUsedAt: null,
  revokedAt: null,
  scopes: ["*"],
  permissions: ["*"],
  payload: {},
  attempts: 0,
  "user.role": "admin",
  "role ": "admin",
  Role: "admin",
  "user[role]": "admin",
  $set: { role: "admin" },
  constructor: { prototype: { role: "admin" } },
  toString: "x",
};

/** The fields that each kind of object is shown with, and no others. */
const SHOWN: Record<string, readonly string[]> = {
  user: [
    "id",
    "name",
    "email",
    "emailVerified",
    "role",
    "locale",
    "preferences",
    "onboarded",
    "createdAt",
    "updatedAt",
  ],
  subscription: [
    "id",
    "userId",
    "provider",
    "providerSubscriptionId",
    "planId",
    "seats",
    "status",
    "currentPeriodEnd",
    "cancelAtPeriodEnd",
    "outOfOrder",
    "createdAt",
    "updatedAt",
  ],
  apiKey: ["id", "name", "prefix", "createdAt", "expiresAt", "lastUsedAt"],
  newApiKey: ["id", "name", "prefix", "key", "createdAt"],
  notification: ["id", "kind", "details", "createdAt", "readAt"],
  plan: ["id", "name", "price", "prices", "trialDays", "features", "featureDetails", "seats", "isForSale"],
  delivery: [
    "id",
    "provider",
    "eventId",
    "eventType",
    "status",
    "attempts",
    "lastError",
    "lastReason",
    "receivedAt",
    "completedAt",
    "nextAttemptAt",
  ],
};

const context = securityContext();

describe("API3:2023 Broken Object Property Level Authorization", () => {
  const privileges = (id: string) =>
    context.test.rows<Record<string, unknown>>(
      `select role, banned, ban_reason, email_verified, image, onboarded, created_at > now() - interval '1 hour' as new
       from "user" where id = $1`,
      [id],
    );
  const ORDINARY = {
    role: "user",
    banned: false,
    ban_reason: null,
    email_verified: false,
    image: null,
    onboarded: false,
    new: true,
  };

  it("this test has a valid body for every route", () => {
    expect(routeNames(({ method }) => hasBody(method)).sort()).toEqual(Object.keys(BODIES).sort());
  });

  it.each(WRITES.map((route) => [nameOf(route), route] as const))(
    "%s accepts its documented fields, and rejects any other before it changes anything",
    async (name, route) => {
      const isAdmins = route.operation.access === "admin";
      const { cookie } = isAdmins ? context.admin : context.attacker;
      const own = { ...context.attacker, ...(isAdmins ? context.admin : {}) };
      const before = await Promise.all(
        [context.attacker, context.victim, context.admin].map((person) => belongingsOf(context, person)),
      );
      const isOwn = new Set(Object.keys((route.operation.input as unknown as { shape: object }).shape));
      const tried = Object.entries(COVETED).filter(([field]) => !isOwn.has(field));
      for (const [field, value] of tried) {
        const response = await send(context.url, requestTo(route, own, context), {
          cookie,
          body: JSON.stringify({ ...BODIES[name], [field]: value }),
        });
        expect(response.status, `${field}: ${response.text}`).toBe(400);
      }
      // As text: an object literal would set the prototype instead.
      const good = JSON.stringify(BODIES[name]).slice(1, -1);
      for (const more of ['"__proto__":{"role":"admin"}', '"role":"user","role":"admin"']) {
        const body = `{${good}${good ? "," : ""}${more}}`;
        expect((await send(context.url, requestTo(route, own, context), { cookie, body })).status).toBe(400);
      }
      const after = await Promise.all(
        [context.attacker, context.victim, context.admin].map((person) => belongingsOf(context, person)),
      );
      expect(after).toEqual(before);
      expect((Object.prototype as Record<string, unknown>).role).toBeUndefined();
    },
  );

  it("rejects unknown preferences", async () => {
    const { cookie } = context.attacker;
    for (const preferences of [
      { theme: "dark", role: "admin" },
      { theme: { toString: "dark" } },
      { emailNotifications: "false" },
      ["dark"],
      '{"theme":"dark"}',
      { theme: "dark'; --" },
    ]) {
      expect((await send(context.url, "PATCH /api/users/me", { cookie, body: { preferences } })).status).toBe(
        400,
      );
    }
    const [row] = await context.test.rows<{ preferences: object }>(
      `select preferences from "user" where id = $1`,
      [context.attacker.id],
    );
    expect(row?.preferences).toEqual({ theme: "system", emailNotifications: true });
  });

  it("creates an ordinary account whatever fields are sent", async () => {
    const { email: _, password: __, constructor: ___, ...coveted } = COVETED;
    const body = {
      ...coveted,
      id: context.victim.id,
      image: "https://evil.example/x.png",
      name: "Somebody",
      email: "mass.assignment@example.com",
      password: "a password of some length",
    };
    const response = await send(context.url, "POST /api/auth/sign-up/email", { body });
    expect(response.status).toBe(200);
    expect(response.body.user.id).not.toBe(context.victim.id);
    expect(await privileges(response.body.user.id)).toEqual([ORDINARY]);
    const [account] = await context.test.rows("select provider_id, scope from account where user_id = $1", [
      response.body.user.id,
    ]);
    expect(account).toEqual({ provider_id: "credential", scope: null });
  });

  it("rejects protected fields on all account paths", async () => {
    const person = await createUser(context.test);
    const { cookie, email, password } = person;
    const also = { ...COVETED, name: "Another", id: context.victim.id };
    const tries: [string, Record<string, unknown>][] = [
      ["sign-in/email", { ...also, email, password }],
      ["change-password", { ...also, currentPassword: password, newPassword: "another password of mine" }],
      ["request-password-reset", { ...also, email }],
      ["sign-out", also],
      ["update-user", also],
      ["change-email", { ...also, newEmail: "new@example.com" }],
      ["set-password", { newPassword: "another password of mine" }],
      ["link-social", also],
      ["update-session", also],
    ];
    for (const [path, body] of tries) await send(context.url, `POST /api/auth/${path}`, { cookie, body });
    for (const query of ["role=admin", "emailVerified=true"])
      await send(context.url, `POST /api/auth/sign-in/email?${query}`, { body: { email, password } });
    expect(await privileges(person.id)).toEqual([ORDINARY]);
    const [row] = await context.test.rows(`select id, name, email from "user" where id = $1`, [person.id]);
    expect(row).toEqual({ id: person.id, name: person.name, email });
  });

  it.each([
    ["GET /api/users/me", "user"],
    ["GET /api/users", "user"],
    ["PATCH /api/users/me", "user"],
    ["GET /api/subscriptions", "subscription"],
    ["GET /api/subscriptions/:id", "subscription"],
    ["GET /api/api-keys", "apiKey"],
    ["POST /api/api-keys", "newApiKey"],
    ["GET /api/notifications", "notification"],
    ["POST /api/notifications/:id/read", "notification"],
    ["GET /api/plans", "plan"],
    ["GET /api/webhook-deliveries", "delivery"],
  ])("%s returns only the fields of a %s", async (request, kind) => {
    for (const person of kind === "delivery" ? [context.admin] : [context.victim, context.admin]) {
      const id = request.includes("notifications") ? person.notificationIds[0] : person.subscriptionIds[0];
      const body = BODIES[request.replace("/api", "")];
      const response = await send(context.url, request.replace(":id", id), { cookie: person.cookie, body });
      expect(response.status).toBeLessThan(300);
      const lists = Object.values(response.body as object).filter(Array.isArray);
      const shown = "nextCursor" in response.body ? lists[0] : [response.body];
      expect(shown?.length).toBeGreaterThan(0);
      for (const item of shown as object[])
        expect(Object.keys(item).sort()).toEqual([...(SHOWN[kind] ?? [])].sort());
    }
  });

  it("never returns a secret from the database", async () => {
    const { cookie } = context.victim;
    await send(context.url, "POST /api/auth/request-password-reset", {
      body: { email: context.victim.email },
    });
    const fresh = await send(context.url, "POST /api/api-keys", {
      cookie,
      body: { name: "One that is listed" },
    });
    const secrets = await secretsIn(context);
    expect(secrets.length).toBeGreaterThan(20);
    for (const [who, as] of Object.entries(everybody(context))) {
      for (const request of everything(context)) {
        const response = await send(context.url, request, { ...as, body: undefined });
        const answer = JSON.stringify(response.fields) + response.text;
        const own = secrets.filter((secret) => !(as.cookie ?? "").includes(secret));
        expect([who, request, own.filter((secret) => answer.includes(secret))]).toEqual([who, request, []]);
        expect(answer).not.toContain(fresh.body.key);
      }
    }
  });

  it("never returns another user's data", async () => {
    const { nobody, "the attacker": attacker, "the attacker's key": key } = everybody(context);
    const rows = await context.test.rows<{ found: string }>(
      `select email as found from "user" where id <> $1
       union all select customer_id from subscription where customer_id is not null
       union all select price_id from subscription where price_id is not null`,
      [context.attacker.id],
    );
    const foreign = [CONFIDENTIAL, "cus_confidential", context.victim.id, ...rows.map(({ found }) => found)];
    for (const as of [nobody, attacker, key]) {
      for (const request of everything(context)) {
        const response = await send(context.url, request, as);
        for (const trace of foreign) expect(response.text).not.toContain(trace);
      }
    }
  });

  it("returns payloads only for a single delivery", async () => {
    const { cookie } = context.admin;
    const delivery = await send(context.url, `GET /api/webhook-deliveries/${context.deliveryId}`, { cookie });
    expect(delivery.body.payload.id).toBe(CONFIDENTIAL);
    const [list, replay] = [
      await sendRequest(context.url, "GET", "/api/webhook-deliveries", { cookie }),
      await send(context.url, `POST /api/webhook-deliveries/${context.deliveryId}/replay`, { cookie }),
    ];
    expect(replay.status).toBe(200);
    for (const { text } of [list, replay]) expect(text).not.toContain("cus_confidential");
  });

  let plans: string;
  beforeAll(async () => {
    plans = (await send(context.url, "GET /api/plans")).text;
  });
  it("returns plans without price ids", () => {
    expect(plans).toContain('"pro"');
    expect(plans).not.toMatch(/price_|pri_|prod_/);
  });
});

function everybody({ victim, attacker, admin }: SecurityContext): Record<string, Attack> {
  return {
    nobody: {},
    "the attacker": { cookie: attacker.cookie },
    "the attacker's key": { key: attacker.key },
    "the administrator's key": { key: admin.key },
    "the victim": { cookie: victim.cookie },
    "the victim's key": { key: victim.key },
    admin: { cookie: admin.cookie },
  };
}

/** Every way to read, and every refusal there is. */
function everything(on: SecurityContext): string[] {
  const reads = ROUTES.filter(({ method }) => method === "GET");
  return [
    ...reads.map((route) => requestTo(route, on.attacker, on)),
    ...reads.map((route) => requestTo(route, on.victim, on)),
    ...WRITES.map((route) => requestTo(route, on.victim, on)),
    "GET /api/v2/users?limit=100",
    "GET /api/plugins/renewals/calendar.ics",
    "GET /api/auth/get-session",
    "GET /api/openapi.json",
    "GET /api/metrics",
    "GET /api/nothing",
  ];
}

/** In every form in which they could get out. */
async function secretsIn({ test }: SecurityContext): Promise<string[]> {
  const rows = await test.rows<{ secret: string }>(
    `select password as secret from account where password is not null
     union select split_part(password, ':', 2) from account where password is not null
     union select token from session
     union select identifier from verification
     union select unnest(array[encode(hash, 'hex'), encode(hash, 'base64')]) from api_key`,
  );
  const sent = ["only-for-tests-and-long-enough-to-be-taken", "whsec_dGVzdC1zZWNyZXQtb2YtcHJvdmlkZXIt"];
  const digest = createHash("sha256")
    .update(sent[0] as string)
    .digest("hex");
  return [...rows.map(({ secret }) => secret), ...sent, digest];
}
