import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import plans from "../../plans.config.ts";
import { type PageRequest, pageRequests } from "../../src/app/gate/page-request.ts";
import { newApiKey } from "../../src/auth/callers/api-key.ts";
import type { AccountCall } from "../../src/domain/callers/account-call.ts";
import type { Person } from "../../src/domain/callers/caller.ts";
import { Refusal } from "../../src/domain/refusals/refusal.ts";
import { testLimits } from "../support/guarded-app.ts";
import { testDatabase } from "../support/test-database.ts";

const revalidatePath = vi.hoisted(() => vi.fn());

// Next.js lets an action revalidate only while it serves a request itself.
vi.mock("next/cache", () => ({ revalidatePath }));
vi.mock("next/headers", () => ({
  cookies: async () => ({ set: () => {} }),
  headers: async () => new Headers(),
}));

type Action = (form: FormData) => Promise<unknown>;

const APP = join(import.meta.dirname, "../../src/app");

/** Every exported action, by its name. Typed by hand: the pages have compiler options of their own. */
async function importActions(): Promise<Record<string, Action>> {
  const files = readdirSync(APP, { recursive: true, encoding: "utf8" });
  const modules = files
    .filter((file) => /(^|\/)actions\.ts$/.test(file))
    .map((file) => import(join(APP, file)));
  return Object.assign({}, ...(await Promise.all(modules)));
}

type Row = {
  fields: Record<string, string>;
  isAdmin?: true;
  /** The calls of `revalidatePath` after a success. */
  revalidates: readonly string[][];
  redirectsTo?: string;
  scope: "billing" | "settings" | "admin";
  /** What a query finds only once the operation has run. */
  done: string;
};

const TEN: Record<string, Row> = {
  createCheckout: {
    fields: { planId: "pro", seats: "1" },
    revalidates: [["/billing"]],
    redirectsTo: "https://checkout.example.com/1",
    scope: "billing",
    done: "select from checkout where user_id = 'user_1'",
  },
  openCustomerPortal: {
    fields: {},
    revalidates: [["/billing"]],
    redirectsTo: "https://portal.example.com/1",
    scope: "billing",
    done: "select 1",
  },
  updateProfile: {
    fields: { name: "Grace" },
    revalidates: [["/", "layout"]],
    scope: "settings",
    done: `select from "user" where id = 'user_1' and name = 'Grace'`,
  },
  setLocale: {
    fields: { locale: "de" },
    revalidates: [["/", "layout"]],
    scope: "settings",
    done: `select from "user" where id = 'user_1' and locale = 'de'`,
  },
  deleteAccount: {
    fields: { confirmation: "user_1@example.com" },
    revalidates: [["/", "layout"]],
    redirectsTo: "/farewell",
    scope: "settings",
    done: "select from deleted_user where id = 'user_1'",
  },
  completeOnboarding: {
    fields: {},
    revalidates: [["/onboarding"], ["/dashboard"]],
    redirectsTo: "/dashboard",
    scope: "settings",
    done: `select from "user" where id = 'user_1' and onboarded`,
  },
  changeUserRole: {
    fields: { userId: "user_2", role: "admin" },
    isAdmin: true,
    revalidates: [["/admin/users", "layout"]],
    scope: "admin",
    done: `select from "user" where id = 'user_2' and role = 'admin'`,
  },
  deleteUser: {
    fields: { userId: "user_2", confirmation: "user_2@example.com" },
    isAdmin: true,
    revalidates: [["/admin/users", "layout"]],
    redirectsTo: "/admin/users?done=deleted",
    scope: "admin",
    done: "select from deleted_user where id = 'user_2'",
  },
  createApiKeyAction: {
    fields: { name: "CI" },
    revalidates: [["/", "layout"]],
    scope: "settings",
    done: "select from api_key where user_id = 'user_1' and name = 'CI'",
  },
  deleteApiKeyAction: {
    fields: { id: "5a0f3c1e-0000-4000-8000-000000000001" },
    revalidates: [["/api-keys"]],
    scope: "settings",
    done: "select from api_key where id = '5a0f3c1e-0000-4000-8000-000000000001' and revoked_at is not null",
  },
};

const test = testDatabase(0);
let actions: Record<string, Action>;
/** Calls of routes below `/api/auth`, and the body that each of them responds with. */
const accountCalls: Pick<AccountCall, "path" | "body">[] = [];
let accountResponse: Record<string, unknown> = {};
let accountStatus = 200;
beforeAll(async () => {
  actions = await importActions();
});
beforeEach(async () => {
  await test.rows(
    `insert into "user" (id, name, email, role)
     select 'user_' || n, 'User ' || n, 'user_' || n || '@example.com', case n when 0 then 'admin' else 'user' end
     from generate_series(0, 2) n`,
  );
  await test.rows(
    `insert into session (id, user_id, token, expires_at) values ('session', 'user_1', 'token', now() + interval '1 day')`,
  );
  await test.rows(
    `insert into api_key (id, user_id, name, prefix, hash)
     values ('5a0f3c1e-0000-4000-8000-000000000001', 'user_1', 'Old', 'tg_old', sha256('old'))`,
  );
});
afterEach(async () => {
  revalidatePath.mockReset();
  accountCalls.length = 0;
  accountResponse = {};
  accountStatus = 200;
  await test.rows(`truncate "user", deleted_user, checkout, subscription cascade`);
});

/** Runs an action as Next.js would for this caller; `null`: nobody is signed in. */
function run(
  name: string,
  fields: Row["fields"],
  person: Person | null,
  limits = testLimits(),
): Promise<unknown> {
  const form = new FormData();
  for (const [field, value] of Object.entries(fields)) form.set(field, value);
  const provider = {
    createCheckout: async () => ({ id: "1", url: "https://checkout.example.com/1", expiresAt: null }),
    openPortal: async () => ({ url: "https://portal.example.com/1" }),
  };
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  const request = {
    path: "/somewhere",
    address: "192.0.2.1",
    person: async () => person,
    header: () => undefined,
    charged: () => {},
    markParsed: () => {},
    setErrorStatus: () => {},
    appUrl: "https://app.example.com",
    accounts: {
      scopeOf: () => "auth-sign-in",
      call: async ({ path, body }: AccountCall) => {
        accountCalls.push({ path, body });
        const refusal = accountStatus === 401 ? new Refusal({ reason: "invalid_credentials" }) : null;
        return { status: accountStatus, body: accountResponse, refusal, cookies: [] };
      },
    },
    log,
    deps: {
      database: test.database,
      plans,
      limits,
      newApiKey,
      log,
      observe: null,
      cancelSubscription: null,
      payments: { "provider-a": provider, "provider-b": null, "provider-c": null },
      activeProvider: "provider-a",
      appUrl: "https://app.example.com",
    },
  } as unknown as PageRequest;
  return pageRequests().run(request, () => (actions[name] as Action)(form));
}

const personFor = ({ isAdmin }: Row): Person => ({
  kind: "session",
  sessionId: "session",
  address: "192.0.2.1",
  ...(isAdmin ? { userId: "user_0", role: "admin" } : { userId: "user_1", role: "user" }),
});

/** Where an action has redirected to; `null`: it has returned. */
async function redirectOf(running: Promise<unknown>): Promise<string | null> {
  const error = await running.then(
    () => null,
    (thrown: Error & { digest?: string }) => thrown,
  );
  if (error === null) return null;
  const [kind, , to] = error.digest?.split(";") ?? [];
  if (kind !== "NEXT_REDIRECT") throw error;
  return to as string;
}

describe.each(Object.entries(TEN))("%s", (name, row) => {
  it("runs its operation, then revalidates the pages that show it", async () => {
    if (name === "openCustomerPortal") {
      await test.rows(
        `insert into subscription (id, user_id, provider, provider_subscription_id, customer_id, plan_id, seats, status,
           cancel_at_period_end, out_of_order)
         values (gen_random_uuid(), 'user_1', 'provider-a', 'sub_1', 'cus_1', 'pro', 1, 'active', false, false)`,
      );
    }
    expect(await redirectOf(run(name, row.fields, personFor(row)))).toBe(row.redirectsTo ?? null);
    expect(await test.rows(row.done)).toHaveLength(1);
    expect(revalidatePath.mock.calls).toEqual(row.revalidates);
  });

  it("redirects to /sign-in without a session", async () => {
    expect(await redirectOf(run(name, row.fields, null))).toMatch(/^\/sign-in(\?|$)/);
    expect(revalidatePath).not.toHaveBeenCalled();
  });

  it("throws the specification's message over the limit, and changes nothing", async () => {
    const limits = testLimits();
    const person = personFor(row) as Extract<Person, { kind: "session" }>;
    const { limit } = limits.policies[row.scope];
    await limits.rateLimit(`${row.scope}:${person.userId}`, { ...limits.policies[row.scope], cost: limit });
    await expect(run(name, row.fields, person, limits)).rejects.toThrow(
      /^Too many requests\. Please wait a moment\.$/,
    );
    expect(revalidatePath).not.toHaveBeenCalled();
    if (row.done !== "select 1") expect(await test.rows(row.done)).toEqual([]);
  });
});

describe("a second click, whose response is the one that a browser without JavaScript shows", () => {
  const ENDPOINT = "5a0f3c1e-0000-4000-8000-000000000002";
  beforeEach(async () => {
    await test.rows(
      `insert into event_endpoint (id, url, types, secret) values ($1, 'https://example.com/', '{user.created}', 'whsec_')`,
      [ENDPOINT],
    );
  });
  afterEach(() => test.rows("truncate event_endpoint cascade"));

  it.each([
    ["deleteUser", { userId: "user_2", confirmation: "user_2@example.com" }, "/admin/users?done=deleted"],
    ["deleteEventEndpoint", { id: ENDPOINT }, "/admin/event-endpoints?done=deleted"],
    ["deleteAccount", { confirmation: "user_1@example.com" }, "/farewell"],
  ] as const)("of %s leads where the first one does", async (name, fields, to) => {
    const caller = personFor((name === "deleteAccount" ? TEN.deleteAccount : TEN.deleteUser) as Row);
    expect(await redirectOf(run(name, fields, caller))).toBe(to);
    expect(await redirectOf(run(name, fields, caller))).toBe(to);
  });

  it.each([
    ["deleteUser", { userId: "user_3", confirmation: "user_3@example.com" }],
    ["deleteEventEndpoint", { id: "5a0f3c1e-0000-4000-8000-000000000003" }],
  ])("of %s says so of what has never existed", async (name, fields) => {
    await expect(run(name, fields, personFor(TEN.deleteUser as Row))).rejects.toThrow(/^No such/);
  });
});

describe("an action of accounts", () => {
  const someone = personFor(TEN.updateProfile as Row);
  const password = "a password";

  it.each<[string, fields: Record<string, string>, path: string, body: object, to: string | null]>([
    [
      "signIn",
      { email: "a@example.com", password, next: "/billing" },
      "/sign-in/email",
      { email: "a@example.com", password, rememberMe: false },
      "/billing",
    ],
    [
      "signIn",
      { email: "a@example.com", password, rememberMe: "on", next: "//evil.example" },
      "/sign-in/email",
      { email: "a@example.com", password, rememberMe: true },
      "/onboarding",
    ],
    [
      "signInWithCode",
      { code: "123456", next: "/billing" },
      "/two-factor/verify-totp",
      { code: "123456", trustDevice: false },
      "/billing",
    ],
    [
      "signInWithCode",
      { code: "123456", trustDevice: "on", next: "https://evil.example" },
      "/two-factor/verify-totp",
      { code: "123456", trustDevice: true },
      "/onboarding",
    ],
    [
      "signInWithBackupCode",
      { code: "abcde-fghij", next: "/\\evil.example" },
      "/two-factor/verify-backup-code",
      { code: "abcde-fghij", trustDevice: false },
      "/onboarding",
    ],
    [
      "changePassword",
      { currentPassword: password, newPassword: "another one", revokeApiKeys: "on" },
      "/change-password",
      { currentPassword: password, newPassword: "another one", revokeApiKeys: true },
      null,
    ],
    [
      "changePassword",
      { currentPassword: password, newPassword: "another one" },
      "/change-password",
      { currentPassword: password, newPassword: "another one", revokeApiKeys: false },
      null,
    ],
    ["changeEmail", { newEmail: "b@example.com" }, "/change-email", { newEmail: "b@example.com" }, null],
    ["createBackupCodes", { password }, "/two-factor/generate-backup-codes", { password }, null],
    [
      "disableTwoFactor",
      { password },
      "/two-factor/disable",
      { password },
      "/settings/security?done=two-factor-off",
    ],
  ])(
    "passes on what was entered, and leads to own pages only: %s %j",
    async (name, fields, path, body, to) => {
      expect(await redirectOf(run(name, fields, someone))).toBe(to);
      expect(accountCalls).toEqual([{ path, body }]);
    },
  );

  it.each([
    ["signUp", "//evil.example", "/onboarding"],
    ["signUp", "/billing?plan=pro", "/billing?plan=pro"],
    ["completeOnboarding", "//evil.example", "/dashboard"],
    ["completeOnboarding", "/api-keys", "/api-keys"],
  ])("%s leads to own pages only: %s", async (name, next, to) => {
    accountResponse = { token: "signed in" };
    expect(await redirectOf(run(name, { next }, someone))).toBe(to);
  });

  it.each([
    ["//evil.example", "/sign-in/two-factor"],
    ["/billing", "/sign-in/two-factor?next=%2Fbilling"],
  ])("asks for the second factor, and remembers where to go: %s", async (next, to) => {
    accountResponse = { twoFactorRedirect: true };
    expect(await redirectOf(run("signIn", { email: "a@example.com", password, next }, null))).toBe(to);
  });

  it("signs out of an account that is deleted", async () => {
    await redirectOf(run("deleteAccount", { confirmation: "user_1@example.com" }, someone));
    expect(accountCalls.map(({ path }) => path)).toEqual(["/sign-out"]);
  });

  it("changes nothing for somebody whose session has ended", async () => {
    for (const name of ["changePassword", "changeEmail", "disableTwoFactor", "createBackupCodes"])
      expect(await redirectOf(run(name, { password }, null))).toMatch(/^\/sign-in/);
    expect(accountCalls).toEqual([]);
  });

  it("is limited by address, before anybody is signed in", async () => {
    const limits = testLimits();
    const policy = limits.policies["auth-sign-in"];
    await limits.rateLimit("auth-sign-in:192.0.2.1", { ...policy, cost: policy.limit });
    await expect(run("signIn", { email: "a@example.com", password }, null, limits)).rejects.toThrow(
      /^Too many requests\./,
    );
    expect(accountCalls).toEqual([]);
  });

  it.each([401, 400])("leads nowhere when it is refused: %i", async (status) => {
    accountStatus = status;
    await expect(run("signIn", { email: "a@example.com", password }, null)).rejects.toMatchObject({
      name: "Refusal",
      code: status === 401 ? "unauthorized" : "invalid_input",
    });
  });
});
