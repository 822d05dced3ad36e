import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import plans from "../../plans.config.ts";
import { LOCALES, type Locale } from "../../src/domain/locale.ts";
import { MAX_NAME_UNITS } from "../../src/domain/users/person-name.ts";
import { builtPages } from "../support/built-pages.ts";
import { type RequestOptions, sendRequest } from "../support/http.ts";
import { cookieOf, createAdmin, createUser, type TestUser } from "../support/people.ts";
import {
  type ActionAnswer,
  type ActionCall,
  callAction,
  encodeArguments,
  type Fields,
  findServerAction,
  listServerActions,
  postForm,
  submitAction,
} from "../support/server-action.ts";
import { type ServerProcess, spawnServer } from "../support/server-process.ts";
import { testDatabase } from "../support/test-database.ts";
import { GENEROUS_LIMITS } from "../support/variables.ts";

const test = testDatabase();
let server: ServerProcess;
/** On the same database; each scope admits one call an hour. */
let strict: ServerProcess;
let person: TestUser;
let admin: TestUser;
beforeAll(async () => {
  await builtPages();
  server = await spawnServer(test.url, GENEROUS_LIMITS);
  const once = ["API", "SETTINGS", "BILLING", "ADMIN"].map((scope) => [`RATE_LIMIT_${scope}`, "1/3600"]);
  strict = await spawnServer(test.url, { ...GENEROUS_LIMITS, ...Object.fromEntries(once) });
  person = await createUser(test);
  admin = await createAdmin(test);
}, 240_000);
afterAll(() => Promise.all([server, strict].map((process) => process.end("SIGTERM"))));

function call(
  name: string,
  fields: Fields | null,
  as: ActionCall = {},
  url = server.url,
): Promise<ActionAnswer> {
  const action = findServerAction(name);
  const path = pageOf(name);
  return callAction(url, action, encodeArguments(fields === null ? [] : [fields]), { path, ...as });
}

function pageOf(name: string): string {
  return (findServerAction(name).pages[0] as string).replace("[id]", "someone");
}

async function key(of: TestUser): Promise<{ id: string; key: string }> {
  return (await sendRequest(server.url, "POST", "/api/api-keys", { cookie: of.cookie, body: { name: "CI" } }))
    .body;
}

/** Everything of a user that an action could have changed. */
async function storedData(of: TestUser): Promise<unknown> {
  const [row] = await test.rows(
    `select (select to_jsonb(u) from "user" u where id = $1) as person,
       (select jsonb_agg(to_jsonb(k) - 'hash' order by id) from api_key k where user_id = $1) as keys,
       (select jsonb_agg(to_jsonb(n) order by id) from notification n where user_id = $1) as notifications`,
    [of.id],
  );
  return row;
}

/** The texts of all features that are for sale, which no escaping in HTML changes. */
const FEATURES = plans.plans
  .flatMap(({ features }) => features.map(({ text }) => text))
  .filter((text) => !/[&<>"']/.test(Object.values(text).join("")));

const page = async (path: string, cookie: string) =>
  (await sendRequest(server.url, "GET", path, { cookie })).text;

/** The actions of the specification, each with an invalid input if there is one. */
const TEN: Record<string, Fields | null> = {
  createCheckout: { planId: "gold", seats: "1" },
  openCustomerPortal: { subscriptionId: "1" },
  updateProfile: { name: "" },
  setLocale: { locale: "tlh" },
  deleteAccount: { confirmation: "somebody.else@example.com" },
  completeOnboarding: null,
  changeUserRole: { userId: "", role: "admin" },
  deleteUser: { userId: "" },
  createApiKeyAction: { name: "" },
  deleteApiKeyAction: { id: "1" },
};

/** What else the pages change. */
const OTHERS: Record<string, Fields | null> = {
  markRead: { id: "0" },
  markAllRead: null,
  replayDelivery: { id: "x" },
  reconcileSubscription: { id: "1" },
  dismissSubscription: { id: "1", reason: "" },
  createServiceKey: { name: "" },
  rotateServiceKey: { id: "1" },
  revokeServiceKey: { id: "1" },
  createEventEndpoint: { url: "" },
  updateEventEndpoint: { id: "1" },
  deleteEventEndpoint: { id: "1" },
  testEventEndpoint: { id: "1" },
  replayEventDeliveries: { id: "1" },
  createCalendarLink: null,
  revokeCalendarLink: null,
  saveName: { name: "" },
  savePreferences: { locale: "tlh", theme: "system" },
  changeSubscription: { id: "1", seats: "2" },
  revokeSession: { id: "" },
  revokeOtherSessions: null,
};

/** Better Auth's actions for signed-in users, limited by address. */
const SECURITY: Record<string, Fields | null> = {
  changePassword: { currentPassword: "", newPassword: "" },
  changeEmail: { newEmail: "nowhere" },
  enableTwoFactor: { password: "not the password" },
  confirmTwoFactor: { code: "12345" },
  disableTwoFactor: { password: "not the password" },
  // Where two-factor authentication is off, as here, the page says so, whatever the password.
  createBackupCodes: null,
};

/** Signing in and up, for users who are not signed in. */
const ACCOUNT = [
  "signIn",
  "signInWithCode",
  "signInWithBackupCode",
  "signUp",
  "requestPasswordReset",
  "resetPassword",
  "confirmEmail",
  "confirmEmailChange",
  "signOut",
];

const FOR_ADMINISTRATORS = [
  "changeUserRole",
  "deleteUser",
  "replayDelivery",
  "reconcileSubscription",
  "dismissSubscription",
  "createServiceKey",
  "rotateServiceKey",
  "revokeServiceKey",
  "createEventEndpoint",
  "updateEventEndpoint",
  "deleteEventEndpoint",
  "testEventEndpoint",
  "replayEventDeliveries",
];

const whoMay = (name: string) => (FOR_ADMINISTRATORS.includes(name) ? admin : person);

it("exposes exactly the listed server actions", () => {
  const actions = listServerActions().filter(({ name }) => name !== "submitForm");
  expect(actions.map(({ name }) => name).toSorted()).toEqual(
    [...Object.keys(TEN), ...Object.keys(OTHERS), ...Object.keys(SECURITY), ...ACCOUNT].toSorted(),
  );
  for (const { name, file } of actions)
    expect([name, file]).toEqual([name, expect.stringMatching(/\/actions\.ts$/)]);
});

describe.each(Object.entries({ ...TEN, ...OTHERS, ...SECURITY }))("the server action %s", (name, wrong) => {
  it("redirects to sign-in without a session, and back afterwards", async () => {
    const { key: apiKey } = await key(admin);
    const next = pageOf(name);
    const back = new URLSearchParams({ ...(next !== "/dashboard" && { next }), after: "session-end" });
    for (const as of [{}, { key: apiKey }, { cookie: "better-auth.session_token=made.up" }]) {
      const { status, redirect, returned, thrown, headers } = await call(name, wrong ?? {}, as);
      expect([status, redirect, returned, thrown]).toEqual([200, `/sign-in?${back}`, undefined, null]);
      expect(chargedScopes(headers)).toEqual([]);
    }
  });

  if (!(name in SECURITY)) {
    it("is refused over the limit before its input is validated", async () => {
      const { cookie } = FOR_ADMINISTRATORS.includes(name) ? await createAdmin(test) : await createUser(test);
      await call(name, wrong ?? {}, { cookie }, strict.url);
      for (const body of [encodeArguments([wrong ?? {}]), encodeArguments([{}]), '["no form"]']) {
        const as = { cookie, path: pageOf(name) };
        const refused = await callAction(strict.url, findServerAction(name), body, as);
        const { status, thrown, returned, headers, text } = refused;
        expect([status, thrown, returned]).toEqual([429, { digest: "refusal:rate_limited" }, undefined]);
        expect(headers.get("x-ratelimit-remaining")).toBe("0");
        expect(Number(headers.get("retry-after"))).toBeGreaterThan(3_500);
        expect(text).not.toMatch(/\.[jt]s\b|Refusal|Too many|stack/);
      }
    });
  }

  if (wrong !== null) {
    it("rejects invalid input without details", async () => {
      const { cookie } = whoMay(name);
      const before = await Promise.all([storedData(person), storedData(admin)]);
      for (const fields of [wrong as Fields, asFiles(wrong as Fields)]) {
        const { status, thrown, text } = await call(name, fields, { cookie });
        expect([status, thrown]).toEqual([400, { digest: "refusal:invalid_input" }]);
        expect(text).not.toMatch(/\.[jt]s\b|Refusal|expected|stack/);
      }
      expect(await Promise.all([storedData(person), storedData(admin)])).toEqual(before);
    });
  }

  if (FOR_ADMINISTRATORS.includes(name)) {
    it("requires an administrator", async () => {
      for (const fields of [
        { userId: person.id, role: "admin", confirmation: person.email },
        { userId: admin.id, role: "user", confirmation: admin.email },
        { id: "1" },
        {},
      ]) {
        const { status, thrown, headers } = await call(name, fields, { cookie: person.cookie });
        expect([status, thrown]).toEqual([403, { digest: "refusal:forbidden" }]);
        expect(chargedScopes(headers)).toEqual([]);
      }
      expect(await storedData(person)).toMatchObject({ person: { role: "user" } });
      expect(await storedData(admin)).toMatchObject({ person: { role: "admin" } });
    });
  }

  it("returns 403 for a cross-site request, and changes nothing", async () => {
    const { cookie } = whoMay(name);
    for (const headers of [
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
      { origin: "https://elsewhere.example.com" },
      { origin: "null" },
      { origin: "null", "sec-fetch-site": "same-origin" },
      { origin: `${server.url}.example.com` },
    ] as Record<string, string>[]) {
      const action = findServerAction(name);
      const response = await call(name, {}, { cookie, headers });
      expect([headers, response.status, response.text]).toEqual([headers, 403, "Forbidden\n"]);
      const posted = await postForm(server.url, action, {}, { cookie, headers, path: pageOf(name) });
      expect([headers, posted.status]).toEqual([headers, 403]);
    }
  });
});

/** The operations' scopes; the page itself is charged to one of its own. */
function chargedScopes(headers: Headers): string[] {
  const scopes = [...(headers.get("ratelimit") ?? "").matchAll(/"([\w-]+)";r=/g)].map(
    ([, scope = ""]) => scope,
  );
  return scopes.filter((scope) => scope !== "pages");
}

function asFiles(fields: Fields): Fields {
  return Object.fromEntries(
    Object.keys(fields).map((name) => [name, new File(["x"], "x.txt", { type: "text/plain" })]),
  );
}

describe("users' data", () => {
  it("is not found by another user: an API key, a notification", async () => {
    const otherUser = await createUser(test);
    const { id } = await key(otherUser);
    const [{ id: notification } = { id: "" }] = await test.rows<{ id: string }>(
      `insert into notification (user_id, kind, details) values ($1, 'api_key_created', '{}') returning id::text`,
      [otherUser.id],
    );
    const before = await storedData(otherUser);
    for (const { cookie } of [person, admin]) {
      for (const [name, fields] of [
        ["deleteApiKeyAction", { id }],
        ["deleteApiKeyAction", { id: randomUUID() }],
        ["markRead", { id: notification }],
        ["markRead", { id: "999999999" }],
      ] as const) {
        const { status, thrown } = await call(name, fields, { cookie });
        expect([name, status, thrown]).toEqual([name, 404, { digest: "refusal:not_found" }]);
      }
    }
    await call("markAllRead", null, { cookie: person.cookie });
    expect(await storedData(otherUser)).toEqual(before);
  });

  it("cannot be changed by another user who adds fields to a form", async () => {
    const otherUser = await createUser(test);
    const before = await storedData(otherUser);
    const forged = {
      id: otherUser.id,
      userId: otherUser.id,
      user_id: otherUser.id,
      role: "admin",
      onboarded: "true",
      email: "x@example.com",
    };
    await call("updateProfile", { name: "Mine", ...forged }, { cookie: person.cookie });
    await call("setLocale", { locale: "en", ...forged }, { cookie: person.cookie });
    await call("createApiKeyAction", { name: "Mine", ...forged }, { cookie: person.cookie });
    expect(await storedData(otherUser)).toEqual(before);
    expect(await storedData(person)).toMatchObject({
      person: { name: "Mine", role: "user", onboarded: false, email: person.email },
      keys: expect.arrayContaining([expect.objectContaining({ name: "Mine", user_id: person.id })]),
    });
  });

  it("is not deleted when another user's email address is typed", async () => {
    const otherUser = await createUser(test);
    expect(
      (await call("deleteAccount", { confirmation: otherUser.email }, { cookie: person.cookie })).status,
    ).toBe(400);
    const wrong = { userId: otherUser.id, confirmation: person.email };
    expect((await call("deleteUser", wrong, { cookie: admin.cookie })).status).toBe(400);
    expect(await storedData(otherUser)).toMatchObject({ person: { email: otherUser.email } });
  });
});

describe("a page after an action", () => {
  it("shows the new name and the new language", async () => {
    const { cookie } = await createUser(test, "Before");
    expect(await page("/settings", cookie)).toContain("Before");
    const { status, headers } = await call("updateProfile", { name: "Grace Before Meals" }, { cookie });
    expect([status, headers.get("x-action-revalidated")]).toEqual([200, "1"]);
    expect(await page("/settings", cookie)).toContain("Grace Before Meals");
    await call("setLocale", { locale: "de" }, { cookie });
    expect(await page("/settings", cookie)).toContain('<html lang="de"');
  });

  it("shows the features of the plans in the reader's language", async () => {
    const { cookie } = await createUser(test);
    const featuresOn = async (path: string, locale: Locale, options: RequestOptions) => {
      const { text } = await sendRequest(server.url, "GET", path, options);
      return FEATURES.filter((feature) => text.includes(feature[locale])).map(({ en }) => en);
    };
    const all = FEATURES.map(({ en }) => en);
    for (const locale of LOCALES) {
      const headers = { "accept-language": locale };
      expect([locale, await featuresOn("/", locale, { headers })]).toEqual([locale, all]);
      await call("setLocale", { locale }, { cookie });
      expect([locale, await featuresOn("/billing", locale, { cookie })]).toEqual([locale, all]);
    }
    // Nothing of the last language is left in English.
    expect(await featuresOn("/billing", "en", { cookie })).toEqual([]);
  });

  it("shows a created key, and no revoked one", async () => {
    const { cookie } = await createUser(test);
    const { returned } = await call("createApiKeyAction", { name: "Build machine" }, { cookie });
    const createdKey = returned as { id: string; key: string };
    expect(createdKey.key).toMatch(/^tg_/);
    const html = await page("/api-keys", cookie);
    expect(html).toContain("Build machine");
    expect(html).not.toContain(createdKey.key);
    expect((await sendRequest(server.url, "GET", "/api/users/me", { key: createdKey.key })).status).toBe(200);

    const { thrown } = await call("deleteApiKeyAction", { id: createdKey.id }, { cookie });
    expect(thrown).toBeNull();
    expect(await page("/api-keys", cookie)).not.toContain(createdKey.id);
    expect((await sendRequest(server.url, "GET", "/api/users/me", { key: createdKey.key })).status).toBe(401);
  });

  it.each([
    ["an API key", "createApiKeyAction", "deleteApiKeyAction", "/api-keys"],
    ["a service key", "createServiceKey", "revokeServiceKey", "/admin/service-keys"],
  ])("revokes %s whose name is repeated as the browser shows it", async (_, create, revoke, path) => {
    const { cookie } = await createAdmin(test);
    const name = "Build\u00a0 machine";
    const fields = { name, "permissions.usage:write": "on" };
    const { id } = (await call(create, fields, { cookie })).returned as { id: string };
    const mistyped = await call(revoke, { id, name, confirmation: "machine" }, { cookie });
    expect(mistyped.thrown).not.toBeNull();
    const { thrown } = await call(revoke, { id, name, confirmation: "Build machine" }, { cookie });
    expect(thrown).toBeNull();
    expect(await page(path, cookie)).not.toContain(id);
  });

  it("takes names of a hundred characters, whatever their length in UTF-16", async () => {
    expect("\u{1f600}".repeat(100)).toHaveLength(MAX_NAME_UNITS);
    const { cookie } = await createUser(test);
    for (const path of ["/settings", "/api-keys"])
      expect(await page(path, cookie)).toMatch(new RegExp(`<input[^>]* maxLength="${MAX_NAME_UNITS}"`, "i"));
  });

  it("shows a calendar address once, which is replaced and revoked", async () => {
    const { id, cookie } = await createUser(test);
    await test.rows(
      `insert into subscription (id, user_id, provider, provider_subscription_id, plan_id, seats, status,
         current_period_end, cancel_at_period_end, out_of_order)
       values (gen_random_uuid(), $1, 'provider-a', $1, 'pro', 1, 'active', now() + interval '9 days', false, false)`,
      [id],
    );
    const create = async () =>
      ((await call("createCalendarLink", {}, { cookie })).returned as { url: string }).url;
    const fetched = (url: string) => sendRequest(server.url, "GET", new URL(url).pathname);
    const first = await create();
    const { status, text, headers } = await fetched(first);
    expect([status, headers.get("content-type")]).toEqual([200, "text/calendar; charset=utf-8"]);
    expect(text).toContain("SUMMARY:Pro renews");
    const html = await page("/settings", cookie);
    expect(html).toContain("Replace address");
    expect(html).not.toContain("tgl_");
    const [secret = ""] = /tgl_\w{40}/.exec(first) ?? [];
    expect(
      JSON.stringify(await test.rows("select * from plugin_link where user_id = $1", [id])),
    ).not.toContain(secret);

    const second = await create();
    expect([(await fetched(first)).status, (await fetched(second)).status]).toEqual([404, 200]);
    await test.rows(`update "user" set banned = true where id = $1`, [id]);
    expect((await fetched(second)).status).toBe(404);
    await test.rows(`update "user" set banned = false where id = $1`, [id]);
    expect((await call("revokeCalendarLink", {}, { cookie })).thrown).toBeNull();
    expect((await fetched(second)).status).toBe(404);
    expect(await page("/settings", cookie)).toContain("Create calendar address");
    const audited = await test.rows<{ action: string }>(
      "select action from audit_entry where target_id = $1 and action like 'calendar%' order by id",
      [id],
    );
    expect(audited.map(({ action }) => action)).toEqual([
      "calendar_link.created",
      "calendar_link.created",
      "calendar_link.revoked",
    ]);
  });

  it("shows notifications as read, after marking one or all", async () => {
    const { id, cookie } = await createUser(test);
    await test.rows(
      `insert into notification (user_id, kind, details)
       select $1, 'api_key_created', '{"name": "CI", "prefix": "tg_x"}' from generate_series(1, 3)`,
      [id],
    );
    // Each unread notification has its own button.
    const button = 'aria-label="Mark as read: ';
    const unread = async () => (await page("/notifications", cookie)).split(button).length - 1;
    const [{ id: first } = { id: "" }] = await test.rows<{ id: string }>(
      "select id::text from notification where user_id = $1 limit 1",
      [id],
    );
    expect(await unread()).toBe(3);
    expect((await call("markRead", { id: first }, { cookie })).thrown).toBeNull();
    expect(await unread()).toBe(2);
    expect((await call("markAllRead", null, { cookie })).thrown).toBeNull();
    expect(await unread()).toBe(0);
  });

  it("shows the dashboard instead of onboarding", async () => {
    const { cookie } = await createUser(test);
    const openOnboarding = () => sendRequest(server.url, "GET", "/onboarding", { cookie });
    expect((await openOnboarding()).status).toBe(200);
    expect((await call("completeOnboarding", {}, { cookie })).thrown).toBeNull();
    expect((await openOnboarding()).headers.get("location")).toBe("/dashboard");
  });

  it("shows an administrator the new role, and no deleted user", async () => {
    const promotedUser = await createUser(test, "Somebody Promoted");
    const { cookie } = admin;
    const searchPath = `/admin/users?search=${encodeURIComponent(promotedUser.email)}`;
    expect(
      (await call("changeUserRole", { userId: promotedUser.id, role: "admin" }, { cookie })).thrown,
    ).toBeNull();
    expect(
      (await sendRequest(server.url, "GET", "/admin/users", { cookie: promotedUser.cookie })).status,
    ).toBe(200);
    expect(
      (await call("changeUserRole", { userId: promotedUser.id, role: "user" }, { cookie })).thrown,
    ).toBeNull();
    expect(
      (await sendRequest(server.url, "GET", "/admin/users", { cookie: promotedUser.cookie })).status,
    ).toBe(403);
    expect(await page(searchPath, cookie)).toContain("Somebody Promoted");
    const deleted = await call(
      "deleteUser",
      { userId: promotedUser.id, confirmation: promotedUser.email },
      { cookie },
    );
    expect(deleted.thrown).toBeNull();
    expect(await page(searchPath, cookie)).not.toContain("Somebody Promoted");
  });

  it("shows that the account is deleted, and signs the user out", async () => {
    const { email, cookie } = await createUser(test);
    const { redirect, headers } = await call("deleteAccount", { confirmation: email }, { cookie });
    expect(redirect).toBe("/farewell");
    expect(headers.getSetCookie().join("\n")).toMatch(
      /session_token=;.*(Max-Age=0|Expires=Thu, 01 Jan 1970)/i,
    );
    expect(await page("/farewell", cookieOf({ headers }))).toContain("Your account has been deleted");
    expect((await sendRequest(server.url, "GET", "/settings", { cookie })).headers.get("location")).toMatch(
      /^\/sign-in/,
    );
  });
});

it("shows the seconds of Retry-After in a form", async () => {
  const { cookie } = await createUser(test);
  const submit = () =>
    submitAction(
      strict.url,
      findServerAction("updateProfile"),
      { name: "Ada" },
      { cookie, path: "/settings" },
    );
  await submit();
  const { returned, headers } = await submit();
  const seconds = Number(headers.get("retry-after"));
  expect(seconds).toBeGreaterThan(3_500);
  expect(returned).toMatchObject({ done: false, code: "rate_limited", retryAfterSeconds: seconds });
});

it("creates a key that expires after a year, or never on request", async () => {
  const { cookie } = await createUser(test);
  await call("createApiKeyAction", { name: "For ever", expiresAt: "never" }, { cookie });
  await call("createApiKeyAction", { name: "By default", expiresAt: "" }, { cookie });
  const { body } = await sendRequest(server.url, "GET", "/api/api-keys", { cookie });
  const keys = body.apiKeys as { name: string; expiresAt: string | null }[];
  const byName = Object.fromEntries(keys.map(({ name, expiresAt }) => [name, expiresAt]));
  expect(byName).toEqual({ "For ever": null, "By default": expect.stringMatching(/^\d{4}-/) });
});

it("refuses an empty profile form", async () => {
  const { status, thrown } = await call("updateProfile", {}, { cookie: person.cookie });
  expect([status, thrown]).toEqual([400, { digest: "refusal:invalid_input" }]);
});

it("refuses text that no database can store", async () => {
  const text = "paid\0twice";
  const endpoint = { url: "https://example.com/", "types.user.created": "on", description: text };
  for (const [name, fields] of [
    ["createEventEndpoint", endpoint],
    ["updateEventEndpoint", { ...endpoint, id: randomUUID() }],
    ["createEventEndpoint", { url: "https://example.com/\0", "types.user.created": "on" }],
    ["updateEventEndpoint", { url: "https://example.com/\0", id: randomUUID() }],
    ["dismissSubscription", { id: randomUUID(), reason: text }],
  ] as const) {
    const { status, thrown } = await call(name, fields, { cookie: admin.cookie });
    expect([name, status, thrown]).toEqual([name, 400, { digest: "refusal:invalid_input" }]);
  }
});

it("shows the page about the deleted account to nobody else", async () => {
  const openFarewell = (cookie?: string) =>
    sendRequest(server.url, "GET", "/farewell", cookie === undefined ? {} : { cookie });
  expect((await openFarewell(person.cookie)).headers.get("location")).toBe("/dashboard");
  expect((await openFarewell()).headers.get("location")).toBe("/");
});

describe("signing up for a plan", () => {
  it("continues from the plan through sign-up to its purchase", async () => {
    const { text } = await sendRequest(server.url, "GET", "/", {});
    const [, link = ""] = /href="(\/sign-up\?[^"]*pro[^"]*)"/.exec(text) ?? [];
    expect(link).toBe("/sign-up?next=%2Fbilling%3Fplan%3Dpro");
    const form = (await sendRequest(server.url, "GET", link, {})).text;
    expect(form).toContain('name="next" value="/billing?plan=pro"');
    expect(form).toContain("/sign-in?next=%2Fbilling%3Fplan%3Dpro");
    const account = { name: "New", email: `${randomUUID()}@example.com`, password: "a long password" };
    const { redirect, headers } = await call("signUp", { ...account, next: "/billing?plan=pro" });
    expect(redirect).toBe("/billing?plan=pro");
    expect(await page("/billing?plan=pro", cookieOf({ headers }))).toContain("Selected");
  });

  it("signs up also with a target too long for the link of a mail", async () => {
    const account = { name: "New", email: `${randomUUID()}@example.com`, password: "a long password" };
    const next = `/billing?plan=pro&from=${"%2F".repeat(500)}`;
    expect((await call("signUp", { ...account, next })).redirect).toBe(next);
  });

  it("continues with onboarding for any other target", async () => {
    const account = { name: "New", email: `${randomUUID()}@example.com`, password: "a long password" };
    const { redirect } = await call("signUp", { ...account, next: "https://evil.example.com/" });
    expect(redirect).toBe("/onboarding");
  });
});

describe("active sessions", () => {
  it("are revoked all but the current one, and never another user's", async () => {
    const { email, password, cookie } = await createUser(test);
    const otherSession = cookieOf(await call("signIn", { email, password }));
    const stranger = await createUser(test);
    const { redirect } = await call("revokeOtherSessions", {}, { cookie });
    expect(redirect).toBe("/settings/security?done=session-revoked");
    const statusFor = async (as: string) =>
      (await sendRequest(server.url, "GET", "/settings", { cookie: as })).status;
    expect(await Promise.all([cookie, otherSession, stranger.cookie].map(statusFor))).toEqual([
      200, 307, 200,
    ]);
  });

  it("are listed without tokens, and revoked singly", async () => {
    const user = await createUser(test);
    const { email, password, cookie } = user;
    const otherSession = cookieOf(await call("signIn", { email, password }));
    const html = await page("/settings/security", cookie);
    const [, id = ""] = /name="id" value="([^"]+)"/.exec(html) ?? [];
    const tokens = await test.rows<{ token: string }>("select token from session where user_id = $1", [
      user.id,
    ]);
    expect(tokens.filter(({ token }) => html.includes(token))).toEqual([]);
    await call("revokeSession", { id: randomUUID() }, { cookie });
    expect((await sendRequest(server.url, "GET", "/settings", { cookie: otherSession })).status).toBe(200);
    await call("revokeSession", { id }, { cookie });
    expect((await sendRequest(server.url, "GET", "/settings", { cookie: otherSession })).status).toBe(307);
    expect((await sendRequest(server.url, "GET", "/settings", { cookie })).status).toBe(200);
  });
});

it("stores the browser's language with a new account", async () => {
  const account = { name: "Neu", email: `${randomUUID()}@example.com`, password: "a long password" };
  const { headers } = await call("signUp", account, {
    headers: { "accept-language": "de-DE,de;q=0.9,en;q=0.8" },
  });
  const [user] = await test.rows<{ locale: string }>('select locale from "user" where email = $1', [
    account.email,
  ]);
  expect(user?.locale).toBe("de");
  expect(await page("/settings", cookieOf({ headers }))).toContain('<html lang="de"');
  // The features of plans as well, which are the configuration's texts.
  const billing = await page("/billing", cookieOf({ headers }));
  expect(billing).toContain("1.000 Ereignisse im Monat");
  expect(billing).not.toContain("1,000 events");
});

describe("signing in", () => {
  it("sets an HttpOnly session cookie, and redirects to own pages only", async () => {
    const { email, password } = person;
    for (const [next, leadsTo] of [
      ["/billing?plan=pro", "/billing?plan=pro"],
      ["https://evil.example.com/", "/onboarding"],
      ["//evil.example.com/", "/onboarding"],
      ["/\\evil.example.com", "/onboarding"],
      ["javascript:alert(1)", "/onboarding"],
    ] as const) {
      const { redirect, headers } = await call("signIn", { email, password, next });
      expect([next, redirect]).toEqual([next, leadsTo]);
      expect(headers.getSetCookie().find((cookie) => cookie.includes("session_token"))).toMatch(/HttpOnly/i);
      const me = await sendRequest(server.url, "GET", "/api/users/me", { cookie: cookieOf({ headers }) });
      expect(me.body.id).toBe(person.id);
    }
  });

  it("fails alike for a wrong password and an unknown user, and returns no password", async () => {
    const secret = "not the right password";
    const tried = [];
    for (const email of [person.email, "nobody.at.all@example.com"]) {
      const { status, thrown, headers } = await call("signIn", { email, password: secret });
      expect([status, thrown, headers.getSetCookie()]).toEqual([401, { digest: "refusal:unauthorized" }, []]);
      const form = await submitAction(server.url, findServerAction("signIn"), { email, password: secret });
      expect(form.returned).toMatchObject({ done: false, code: "unauthorized", entered: { email } });
      expect(form.text).not.toContain(secret);
      const { message } = form.returned as { message: string };
      tried.push(message);
    }
    expect(tried[0]).toBe(tried[1]);
  });
});
