import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import plans from "../../../plans.config.ts";
import type { RunningServer } from "../../../src/server.ts";
import { builtPages } from "../../support/built-pages.ts";
import { sendRequest } from "../../support/http.ts";
import { cookieOf, createUser, type TestUser } from "../../support/people.ts";
import { startTestServer } from "../../support/server.ts";
import { callAction, encodeArguments, type Fields, findServerAction } from "../../support/server-action.ts";
import { createSubscription } from "../../support/subscriptions.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { testDatabase } from "../../support/test-database.ts";
import { totp } from "../../support/totp.ts";
import { APP_URL, openPage, sendForm, unescaped } from "./open-page.ts";

const test = testDatabase();
let server: RunningServer;
let folder: string;
let ada: TestUser;
let otherUser: TestUser;
beforeAll(async () => {
  await builtPages();
  const limits = { RATE_LIMIT_SETTINGS: "1000/60", RATE_LIMIT_API: "1000/60" };
  folder = await temporaryFolder();
  server = await startTestServer(test.url, { APP_URL, DATA_DIR: folder, ...limits });
  ada = await createUser(test, "Ada", { isHttps: true });
  otherUser = await createUser(test, "Somebody New", { isHttps: true });
}, 180_000);
afterAll(() => server.close());

/** Of the mails to this address the last. */
async function lastMailTo(address: string): Promise<string> {
  const names = (await readdir(join(folder, "mail"))).sort();
  const mails = await Promise.all(names.map((name) => readFile(join(folder, "mail", name), "utf8")));
  return mails.findLast((mail) => mail.includes(`To: ${address}\r\n`)) ?? "";
}

const PAGES = ["/dashboard", "/billing", "/api-keys", "/notifications"];

const headingsOf = (html: string) => [...html.matchAll(/<h1\b[^>]*>([^<]*)/g)].map(([, text]) => text);

type Key = { id: string; name: string; prefix: string };

async function keysOf({ cookie }: TestUser): Promise<Key[]> {
  return (await sendRequest(server.url, "GET", "/api/api-keys", { cookie })).body.apiKeys;
}

describe("account pages", () => {
  it.each(PAGES)("%s requires a session, and works without JavaScript", async (path) => {
    const response = await sendRequest(server.url, "GET", path);
    expect(response.status).toBe(307);
    expect(response.headers.get("location")).toMatch(/^\/sign-in/);
    const { status, html } = await openPage(server.url, path, otherUser.cookie);
    expect(status).toBe(200);
    expect(html.match(/<h1\b/g)).toHaveLength(1);
    // Content streamed after a placeholder needs a script to be shown.
    expect(html).not.toMatch(/<template id="B:|<div hidden="" id="S:/);
  });

  it("are in English for somebody whose language only another release has, as is what GraphQL returns", async () => {
    const reader = await createUser(test, "Marie", { isHttps: true });
    await test.rows(`update "user" set locale = 'fr' where id = $1`, [reader.id]);
    const { status, html } = await openPage(server.url, "/billing", reader.cookie);
    expect([status, headingsOf(html)]).toEqual([200, ["Billing"]]);
    const query = { query: "{ me { locale } }" };
    const response = await sendRequest(server.url, "POST", "/api/graphql", {
      cookie: reader.cookie,
      body: query,
      headers: { origin: APP_URL },
    });
    expect(response.body).toEqual({ data: { me: { locale: "EN" } } });
  });

  it("leave out notifications of a kind that only another release has, as does GraphQL", async () => {
    const { id, cookie } = await createUser(test, "Ada", { isHttps: true });
    const kinds = ["of_a_later_release", "email_changed"];
    await test.rows("insert into notification (user_id, kind) select $1, unnest($2::text[])", [id, kinds]);
    const { status, text } = await openPage(server.url, "/notifications", cookie);
    expect([status, text]).toEqual([200, expect.stringContaining("Your email address was changed.")]);
    const response = await sendRequest(server.url, "POST", "/api/graphql", {
      cookie,
      body: { query: "{ notifications { items { kind } } unreadCount }" },
      headers: { origin: APP_URL },
    });
    expect(response.body).toEqual({
      data: { notifications: { items: [{ kind: "EMAIL_CHANGED" }] }, unreadCount: 1 },
    });
    const marked = await sendRequest(server.url, "POST", "/api/graphql", {
      cookie,
      body: { query: "mutation { markAllRead }" },
      headers: { origin: APP_URL },
    });
    expect(marked.body).toEqual({ data: { markAllRead: 1 } });
  });

  it.each([
    "/notifications?cursor=x",
    "/api-keys?cursor=x",
    ...["/billing?subscription=x", "/billing?payments=x"],
  ])("%s, which nothing links to, returns 404 and says so without JavaScript", async (path) => {
    const { status, html } = await openPage(server.url, path, ada.cookie);
    expect(status).toBe(404);
    expect(headingsOf(html)).toEqual(["Page not found"]);
  });

  it.each(["/admin/users", "/admin/users/x", "/admin/webhooks/1", "/admin/audit?cursor=x"])(
    "%s returns 403 to other people and says so without JavaScript",
    async (path) => {
      const { status, html } = await openPage(server.url, path, ada.cookie);
      expect(status).toBe(403);
      expect(headingsOf(html)).toEqual(["Administrators only"]);
      expect(html).toContain("<title>Administrators only · Tollgate</title>");
    },
  );

  it.each([
    ...["/admin/users/x", "/admin/webhooks/1", "/admin/webhooks/x", "/admin/event-endpoints/x"],
    ...["/admin/event-endpoints/0d4c2f6e-6c3b-4a53-9d0a-3f1f6a0e7b11", "/admin/subscriptions/x"],
  ])(
    "%s, which does not exist, returns 404 to an administrator and says so without JavaScript",
    async (path) => {
      const admin = await createUser(test, "Grace", { isHttps: true, role: "admin" });
      const { status, html } = await openPage(server.url, path, admin.cookie);
      expect(status).toBe(404);
      expect(headingsOf(html)).toEqual(["Page not found"]);
      expect(html).toContain("<title>Page not found · Tollgate</title>");
    },
  );

  it.each([
    ...["users", "webhooks", "subscriptions", "audit", "event-endpoints", "service-keys"].map(
      (list) => `/admin/${list}?cursor=zz`,
    ),
    ...["/admin/webhooks?status=open", "/admin/webhooks?subscriptionId=x", "/admin/webhooks?type=%00"],
    ...["/admin/audit?from=2026-02-30", "/admin/audit?actor=%00"],
  ])("%s, by which nothing could be listed, returns 404", async (path) => {
    const admin = await createUser(test, "Grace", { isHttps: true, role: "admin" });
    const { status, html } = await openPage(server.url, path, admin.cookie);
    expect([status, headingsOf(html)]).toEqual([404, ["Page not found"]]);
  });

  it.each([
    ["x".repeat(3_000), "x".repeat(99)],
    ["%00", "\ufffd"],
    ["a%0Ab", "a\ufffdb"],
  ])("find nobody by text that nobody can be found by", async (search, shown) => {
    const admin = await createUser(test, "Grace", { isHttps: true, role: "admin" });
    const { status, html, text } = await openPage(server.url, `/admin/users?search=${search}`, admin.cookie);
    expect([status, headingsOf(html)]).toEqual([200, ["Users"]]);
    expect(text).toContain(`No name, email or ID matches “${shown}`);
    expect(text.length).toBeLessThan(2_000);
  });

  it("list everybody for a blank search", async () => {
    const admin = await createUser(test, "Grace", { isHttps: true, role: "admin" });
    const { text } = await openPage(server.url, "/admin/users?search=%20", admin.cookie);
    expect(text).toContain(admin.email);
  });

  it("show only onboarding to a new user", async () => {
    const { html } = await openPage(server.url, "/dashboard", otherUser.cookie);
    expect(html.match(/<h2\b/g)).toHaveLength(3);
  });

  it("say in the side bar which of them it is, and name those for administrators to these alone", async () => {
    const { html } = await openPage(server.url, "/billing", ada.cookie);
    const links = [...html.matchAll(/<a\b[^>]*>/g)].map(([link]) => link);
    const current = links.filter((link) => link.includes('aria-current="page"'));
    expect(current.filter((link) => link.includes('href="/billing"'))).toHaveLength(2);
    expect(links.filter((link) => link.includes("/admin/"))).toEqual([]);
  });
});

describe("an API key", () => {
  it("is shown once, with a working command", async () => {
    const created = await sendForm(server.url, "/api-keys", ada.cookie, {
      on: "Create key",
      fields: { name: "Nightly export", expiresAt: "" },
    });
    const [, key = ""] =
      /curl -H 'Authorization: Bearer (tg_\w+)' https:\/\/\S+\/api\/users\/me/.exec(created.text) ?? [];
    expect((await sendRequest(server.url, "GET", "/api/users/me", { key })).body.name).toBe("Ada");
    for (const path of PAGES) {
      expect((await openPage(server.url, path, ada.cookie)).html).not.toContain(key);
    }
    expect((await openPage(server.url, "/api-keys", ada.cookie)).text).toContain("Nightly export");
  });

  it("expires at the end of the chosen day", async () => {
    const fields = { name: "Until then", expiresAt: "2099-02-03" };
    await sendForm(server.url, "/api-keys", ada.cookie, { on: "Create key", fields });
    const listed = await sendRequest(server.url, "GET", "/api/api-keys", { cookie: ada.cookie });
    expect(listed.body.apiKeys[0]).toMatchObject({
      name: "Until then",
      expiresAt: "2099-02-03T23:59:59.999Z",
    });
    const { html } = await openPage(server.url, "/api-keys", ada.cookie);
    expect(html).toMatch(
      /Expires<\/dt><dd><time dateTime="2099-02-03T23:59:59.999Z" title="February 3, 2099 at 11:59:59\sPM UTC"/,
    );
    // Of the key that was used above.
    expect(html).toMatch(/Last used<\/dt><dd><time /);
  });

  it("is revoked only after its name is typed", async () => {
    const [key] = (await keysOf(ada)) as [Key];
    const typed = (text: string) =>
      sendForm(server.url, "/api-keys", ada.cookie, { on: key.id, fields: { confirmation: text } });
    expect((await typed("something else")).text).toContain("That doesn’t match the key’s name.");
    expect((await keysOf(ada)).map(({ id }) => id)).toContain(key.id);
    expect((await typed(key.name)).text).toContain("Key revoked.");
    expect((await keysOf(ada)).map(({ id }) => id)).not.toContain(key.id);
  });

  it("of another user is refused like an unknown one, with a message", async () => {
    await sendRequest(server.url, "POST", "/api/api-keys", {
      cookie: otherUser.cookie,
      body: { name: "Theirs" },
    });
    const [{ id }] = (await keysOf(otherUser)) as [Key];
    const [mine] = (await keysOf(ada)) as [Key];
    const response = await sendForm(server.url, "/api-keys", ada.cookie, {
      on: mine.id,
      fields: { id, name: "Theirs", confirmation: "Theirs" },
    });
    expect(response.text).toContain("This API key no longer exists.");
    expect((await keysOf(otherUser)).map((key) => key.id)).toEqual([id]);
  });
});

describe("an API key that has expired", () => {
  it("is said to, and counts no longer", async () => {
    const { id, cookie } = await createUser(test, "Grace", { isHttps: true });
    await sendRequest(server.url, "POST", "/api/api-keys", { cookie, body: { name: "CI" } });
    const shown = async (path: string) => (await openPage(server.url, path, cookie)).text;
    expect([await shown("/api-keys"), await shown("/dashboard")]).toEqual([
      expect.not.stringContaining("Expired"),
      expect.stringContaining(" API keys 1 Not used yet."),
    ]);
    await test.rows("update api_key set expires_at = now() where user_id = $1", [id]);
    expect([await shown("/api-keys"), await shown("/dashboard")]).toEqual([
      expect.stringContaining("Expired"),
      expect.stringContaining(" API keys 0 Not used yet."),
    ]);
  });
});

describe("what a plan includes", () => {
  it("is shown with what has been used of a quota, in the reader's numbers", async () => {
    const { id, cookie } = await createUser(test, "Grace", { isHttps: true });
    await createSubscription(test, id, { current_period_end: "2090-03-04" });
    await test.rows(
      "insert into usage_counter (user_id, feature, period_end, used) values ($1, 'events', '2090-03-04', 1200)",
      [id],
    );
    const shown = async () => (await openPage(server.url, "/billing", cookie)).text;
    expect(await shown()).toContain("1,200 used, 98,800 left in this period");
    await test.rows(`update "user" set locale = 'de' where id = $1`, [id]);
    expect(await shown()).toContain("1.200 verbraucht, 98.800 in diesem Zeitraum übrig");
  });
});

describe("an overdue payment", () => {
  it("is on every page, with the day on which access ends", async () => {
    const { id, cookie } = await createUser(test, "Grace", { isHttps: true });
    const days = (count: number) => new Date(Date.now() + count * 24 * 3_600_000);
    const since = days(-1);
    await createSubscription(test, id, { status: "past_due", past_due_since: since.toISOString() });
    const { graceDays } = plans.find("pro") as { graceDays: number };
    const end = new Date(since.getTime() + graceDays * 24 * 3_600_000);
    const day = new Intl.DateTimeFormat("en", { dateStyle: "long", timeZone: "UTC" }).format(end);
    const shown = async (path: string) => (await openPage(server.url, path, cookie)).text;
    for (const path of ["/dashboard", "/settings"])
      expect(await shown(path)).toContain(`A payment for Pro failed. You keep access until ${day}.`);
    await test.rows("update subscription set past_due_since = $2 where user_id = $1", [id, days(-99)]);
    expect(await shown("/settings")).toContain("You won’t have access until it’s paid.");
  });
});

describe("a delivery of the log", () => {
  it("is shown without personal data, which cannot be searched for either", async () => {
    const { cookie } = await createUser(test, "Grace", { isHttps: true, role: "admin" });
    const payload = {
      id: "evt_1",
      data: { object: { id: "sub_shown", customer_email: "buyer@example.com" } },
    };
    const [row] = await test.rows<{ id: string }>(
      `insert into webhook_delivery (provider, event_id, event_type, format, status, claim_source, payload)
       values ('provider-a', 'evt_1', 'other', 'stripe', 'failed', 'delivery', $1::text::json) returning id::text`,
      [JSON.stringify(payload)],
    );
    const path = `/admin/webhooks/${row?.id}`;
    const { html, text } = await openPage(server.url, path, cookie);
    expect(html).not.toContain("buyer@");
    expect(text).toMatch(/ sub_shown customer_email : removed /);
    expect(text).toContain(" No more automatic retries.");
    const found = async (search: string) =>
      (await openPage(server.url, `${path}?find=${search}`, cookie)).text;
    expect(await found("buyer")).toContain("No matches.");
    expect(await found("sub_shown")).toContain("1 match.");
  });
});

describe("a notification", () => {
  it("of another user is refused like an unknown one, and stays unread", async () => {
    const { body } = await sendRequest(server.url, "GET", "/api/notifications", { cookie: otherUser.cookie });
    const response = await sendForm(server.url, "/notifications", ada.cookie, {
      on: "Mark as read",
      fields: { id: body.notifications[0].id },
    });
    expect(response.text).toContain("This notification no longer exists.");
    expect((await openPage(server.url, "/notifications", otherUser.cookie)).text).toContain("1 unread");
  });

  it("does not count a notification marked as read", async () => {
    const { text } = await openPage(server.url, "/notifications", ada.cookie);
    expect(text).toContain("2 unread");
    expect(text.match(/ Unread /g)).toHaveLength(2);
    const answer = await sendForm(server.url, "/notifications", ada.cookie, {
      on: "Mark as read",
      fields: {},
    });
    expect(answer.text).toContain("1 unread");
    const response = await sendForm(server.url, "/notifications", ada.cookie, {
      on: "Mark all as read",
      fields: {},
    });
    expect(response.text).not.toContain("Mark all as read");
    expect(response.text).not.toMatch(/\d unread/);
  });
});

describe("the dashboard", () => {
  it("says that seats were purchased only where they were", async () => {
    const { id, cookie } = await createUser(test, "Grace", { isHttps: true });
    await sendRequest(server.url, "POST", "/api/api-keys", { cookie, body: { name: "CI" } });
    expect((await openPage(server.url, "/dashboard", cookie)).text).toMatch(
      / Seats 1 Your own seat is free\./,
    );
    await createSubscription(test, id, { seats: 3 });
    expect((await openPage(server.url, "/dashboard", cookie)).text).toContain("Seats purchased 3 ");
  });

  it("shows every subscription that is paid for", async () => {
    const { id, cookie } = await createUser(test, "Grace", { isHttps: true });
    await createSubscription(test, id, { provider: "provider-b", status: "canceled" });
    await createSubscription(test, id, { provider: "provider-c", plan_id: "team", status: "past_due" });
    await createSubscription(test, id);
    const { text } = await openPage(server.url, "/dashboard", cookie);
    expect(text).toMatch(/paying for more than one subscription.* Pro Active .* Team Payment overdue /);
    expect(text).not.toContain("Ended");
  });

  it("says what a subscription changes to at the end of its period", async () => {
    const { id, cookie } = await createUser(test, "Grace", { isHttps: true });
    const subscription = await createSubscription(test, id, { current_period_end: "2090-03-04" });
    await test.rows(
      `insert into scheduled_change (subscription_id, plan_id, seats, takes_effect_at)
       values ($1, 'team', 6, '2090-03-04')`,
      [subscription],
    );
    const { text } = await openPage(server.url, "/dashboard", cookie);
    expect(text).toMatch(/Renews on March 4, 2090\. Changes to Team with 6 seats on March 4, 2090\./);
  });
});

describe("the payments", () => {
  it("leave the selected subscription's history where it is when they are paged", async () => {
    const { id, cookie } = await createUser(test, "Grace", { isHttps: true });
    const ended = await createSubscription(test, id, { status: "canceled" });
    await createSubscription(test, id);
    await test.rows(
      `insert into payment
         (provider, provider_payment_id, provider_subscription_id, user_id, amount, currency, state, status, occurred_at)
       select 'provider-a', $1 || n, $1, $1, 2000, 'eur', 'paid', 'paid', now() from generate_series(1, 11) n`,
      [id],
    );
    const { html } = await openPage(server.url, `/billing?subscription=${ended}`, cookie);
    const [, next = ""] = /href="([^"]*)#payments"/.exec(html) ?? [];
    expect(next).toMatch(new RegExp(`^/billing\\?subscription=${ended}&amp;payments=`));
    const { html: second } = await openPage(server.url, unescaped(next), cookie);
    expect(second).toContain(`href="/billing?subscription=${ended}#payments"`);
  });

  it("and a history stay where they are when the other one is paged", async () => {
    const { id, cookie } = await createUser(test, "Grace", { isHttps: true });
    const subscriptionId = await createSubscription(test, id);
    await test.rows(
      `insert into payment
         (provider, provider_payment_id, provider_subscription_id, user_id, amount, currency, state, status, occurred_at)
       select 'provider-a', $1 || n, $1, $1, 2000, 'eur', 'paid', 'paid', now() from generate_series(1, 11) n`,
      [id],
    );
    await test.rows(
      `insert into reconciliation (subscription_id, at, by, changes)
       select $1::uuid, now() - n * interval '1 minute', 'operator', '{"seats": [1, 2]}' from generate_series(1, 45) n`,
      [subscriptionId],
    );
    const linkTo = (html: string, place: string) =>
      unescaped(html.match(new RegExp(`href="([^"]*)#${place}"`))?.[1] ?? "");
    const { html } = await openPage(server.url, "/billing", cookie);
    const { html: laterHistory } = await openPage(server.url, linkTo(html, "history"), cookie);
    const both = linkTo(laterHistory, "payments");
    expect(both).toMatch(/^\/billing\?(?=.*cursor=)(?=.*payments=)/);
    const { html: laterBoth } = await openPage(server.url, both, cookie);
    expect(linkTo(laterBoth, "history")).toMatch(/payments=/);
  });
});

describe("a canceled checkout", () => {
  it("is said to have charged nothing, unless another one was paid meanwhile", async () => {
    const { id, cookie } = await createUser(test, "Grace", { isHttps: true });
    const shown = async () => (await openPage(server.url, "/billing?checkout=cancelled", cookie)).text;
    expect(await shown()).toContain("You haven’t been charged.");
    await createSubscription(test, id);
    expect(await shown()).not.toContain("You haven’t been charged.");
  });
});

describe("a plan", () => {
  it("cannot be bought for too many seats or without a provider, with a message", async () => {
    const choose = (seats: string) =>
      sendForm(server.url, "/billing", ada.cookie, { on: "Choose Pro", fields: { seats } });
    expect((await choose("77")).text).toContain("Pro allows 1 to 5 seats.");
    expect((await choose("2")).text).toContain("The payment provider isn’t set up.");
  });

  it("is not offered again after payment while its webhook is pending", async () => {
    const { html, text } = await openPage(server.url, "/billing?checkout=completed", ada.cookie);
    expect(text).toContain("Confirming your payment…");
    expect(text).not.toContain("No subscription");
    expect(html).toMatch(
      /<noscript>.*<meta http-equiv="refresh" content="3; url=\/billing\?checkout=completed/s,
    );
    expect(text).not.toContain("Choose Pro");
  });

  it("asks for no second payment while the first one is being confirmed", async () => {
    const { cookie, id } = await createUser(test, "Grace", { isHttps: true });
    await createSubscription(test, id, { status: "incomplete" });
    const unpaid = "Your first payment isn’t complete.";
    expect((await openPage(server.url, "/billing", cookie)).text).toContain(unpaid);
    const { text } = await openPage(server.url, "/billing?checkout=completed", cookie);
    expect(text).toContain("Confirming your payment…");
    expect(text).not.toContain(unpaid);
  });
});

describe("a refused form", () => {
  const REMEMBER = /<input(?=[^>]* name="rememberMe")[^>]*>/;

  it.each([
    ["unticked", {}, false],
    ["ticked", { rememberMe: "on" }, true],
  ] as const)("keeps its box %s without JavaScript", async (_, box, isTicked) => {
    const { html } = await sendForm(server.url, "/sign-in", "", {
      on: "rememberMe",
      fields: { email: "nobody@example.com", password: "not the password", ...box },
    });
    const [input = ""] = REMEMBER.exec(html) ?? [];
    expect(html).toContain('data-outcome="unauthorized"');
    expect(/ checked/.test(input)).toBe(isTicked);
  });

  it.each([
    ["unticked", {}, false],
    ["ticked", { emailNotifications: "on" }, true],
  ] as const)("keeps the email notifications %s without JavaScript", async (_, box, isTicked) => {
    const { html } = await sendForm(server.url, "/settings", ada.cookie, {
      on: "Save preferences",
      fields: { theme: "sepia", ...box },
    });
    const [input = ""] = /<input(?=[^>]* name="emailNotifications")[^>]*>/.exec(html) ?? [];
    expect(html).toContain('data-outcome="invalid_input"');
    expect(/ checked/.test(input)).toBe(isTicked);
  });
});

describe("a new password that is too long", () => {
  it("is refused with a message, and not cut off unseen by the browser", async () => {
    const { html } = await sendForm(server.url, "/sign-up", "", {
      on: 'name="password"',
      fields: { name: "Grace", email: "grace-too-long@example.com", password: "x".repeat(129) },
    });
    expect(html).toContain("Enter at most 128 characters.");
    const [input = ""] = /<input(?=[^>]* name="password")[^>]*>/.exec(html) ?? [];
    expect(input).toMatch(/ minlength="8"/i);
    expect(input).not.toMatch(/ maxlength=/i);
  });
});

describe("the settings", () => {
  it("show the preferences as they are: saving one of them leaves the others", async () => {
    const { id, cookie } = await createUser(test, "Grace", { isHttps: true });
    const shown = async (theme: string, emailNotifications: boolean) => {
      const preferences = JSON.stringify({ theme, emailNotifications });
      await test.rows(`update "user" set preferences = $2 where id = $1`, [id, preferences]);
      const { html } = await openPage(server.url, "/settings", cookie);
      const [input = ""] = /<input(?=[^>]* name="emailNotifications")[^>]*>/.exec(html) ?? [];
      const [, selected] = /<select[^>]* name="theme".*?value="(\w+)" selected/s.exec(html) ?? [];
      return [selected, / checked/.test(input)];
    };
    expect(await shown("dark", true)).toEqual(["dark", true]);
    expect(await shown("light", false)).toEqual(["light", false]);
  });
});

describe("a field that is refused", () => {
  it.each([
    ["/settings", "Save name", "name", " ", "Enter 1 to 100 characters."],
    ["/settings", "Save language", "locale", "xx", "Please choose one of the options."],
    ["/billing", "Choose Pro", "seats", "77", "Pro allows 1 to 5 seats."],
  ])("is marked for screen readers, with what is wrong: %s, %s", async (path, on, name, value, message) => {
    const { cookie } = await createUser(test, "Grace", { isHttps: true });
    const { html } = await sendForm(server.url, path, cookie, { on, fields: { [name]: value } });
    const control = new RegExp(
      `<(?:input|select)(?=[^>]* name="${name}")(?=[^>]* aria-invalid="true")[^>]*>`,
    );
    const [, id] = / aria-describedby="([^"]*)"/.exec(control.exec(html)?.[0] ?? "") ?? [];
    expect(html).toMatch(new RegExp(`<p id="${id}"[^>]*>${message}`));
  });
});

describe("a session", () => {
  it.each([
    ["ends with the browser when its box is unticked", {}, false],
    ["lasts when its box is ticked", { rememberMe: "on" }, true],
  ] as const)("%s", async (_, box, lasts) => {
    const action = findServerAction("signIn");
    const fields = { email: ada.email, password: ada.password, ...box };
    const { headers } = await callAction(server.url, action, encodeArguments([fields]), {
      headers: { origin: APP_URL },
    });
    const cookie = headers.getSetCookie().find((cookie) => cookie.includes("session_token=")) ?? "";
    expect(cookie).toMatch(/session_token=[^;]+;/);
    expect(/Max-Age|Expires/i.test(cookie)).toBe(lasts);
  });

  it("that has ended is said to have, with what it means for the form that was sent", async () => {
    const action = findServerAction("updateProfile");
    const { redirect } = await callAction(server.url, action, encodeArguments([{ name: "Ada" }]));
    expect((await openPage(server.url, redirect ?? "", "")).text).toContain(
      "Your session has ended. Sign in and check whether your last change was saved.",
    );
  });
});

describe("the plans", () => {
  it.each([
    ["active", false, "You can review a change before you confirm it. To cancel, open the billing portal."],
    ["active", true, "You can review a change before you confirm it. To keep your subscription, open"],
    ["paused", false, " Plans To cancel, open the billing portal."],
  ])("say what can be done: %s, ending: %s", async (status, isEnding, sentence) => {
    const { id, cookie } = await createUser(test, "Somebody New", { isHttps: true });
    await createSubscription(test, id, { status, cancel_at_period_end: isEnding });
    expect((await openPage(server.url, "/billing", cookie)).text).toContain(sentence);
  });
});

describe("a subscription whose payment was taken back", () => {
  it.each([
    ["refunded", "The last payment for Pro was refunded. You no longer have access."],
    [
      "disputed",
      "The last payment for Pro was disputed. It gives you access only if the dispute is withdrawn or decided in our favor.",
    ],
  ])("is said to give no access: %s", async (status, sentence) => {
    const { id, cookie } = await createUser(test, "Somebody New", { isHttps: true });
    await createSubscription(test, id, { provider_subscription_id: `taken-back-${status}` });
    await test.rows(
      `insert into payment
         (provider, provider_payment_id, provider_subscription_id, user_id, amount, currency, state, status, occurred_at)
       values ('provider-a', $1, $1, $2, 2000, 'eur', 'paid', $3, now())`,
      [`taken-back-${status}`, id, status],
    );
    expect((await openPage(server.url, "/dashboard", cookie)).text).toContain(`${sentence} Go to billing `);
    const { text } = await openPage(server.url, "/billing", cookie);
    expect(text).toContain(sentence);
    expect(text).not.toContain("Go to billing");
  });
});

describe("a plan bought with a single payment", () => {
  it("is said not to renew, leaves other plans to buy, and counts as no second subscription", async () => {
    const { id, cookie } = await createUser(test, "Somebody New", { isHttps: true });
    const once = { is_one_time: true, provider_subscription_id: null, created_at: "2090-01-01" };
    await createSubscription(test, id, once);
    const sentence = "You bought this plan with a one-time payment. It doesn’t renew.";
    const { text } = await openPage(server.url, "/billing", cookie);
    expect(text).toContain(sentence);
    expect(text).not.toMatch(/Price per seat|Change seats|Switch to|To cancel|Choose Pro/);
    expect(text).toContain("Choose Team");
    await createSubscription(test, id, { plan_id: "team", current_period_end: "2090-03-04" });
    const beside = (await openPage(server.url, "/billing?checkout=completed", cookie)).text;
    expect(beside).toMatch(/Your subscription is set up.* To cancel/);
    expect(beside).not.toContain("Switch to Pro");
    for (const path of ["/dashboard", "/billing"]) {
      const { text: both } = await openPage(server.url, path, cookie);
      expect(both).toMatch(
        /It doesn’t renew\..* Renews on March 4, 2090|Renews on March 4, 2090.* It doesn’t renew\./,
      );
      expect(both).not.toContain("more than one subscription");
    }
  });

  it("is current no more once its payment was taken back, and can be bought again", async () => {
    const { id, cookie } = await createUser(test, "Somebody New", { isHttps: true });
    await createSubscription(test, id, { is_one_time: true, provider_subscription_id: null });
    await test.rows("update subscription set payment_id = $1 where user_id = $1", [id]);
    await test.rows(
      `insert into payment
         (provider, provider_payment_id, provider_subscription_id, user_id, amount, currency, state, status, occurred_at)
       values ('provider-a', $1, $1, $1, 2000, 'eur', 'paid', 'refunded', now())`,
      [id],
    );
    const shown = async (path: string) => (await openPage(server.url, path, cookie)).text;
    const billing = await shown("/billing");
    expect(billing).toMatch(/No subscription Your one-time payment for Pro was refunded\..* Choose Pro /);
    expect(billing).not.toContain("The last payment");
    expect(await shown("/dashboard")).toContain(" No subscription ");
    await test.rows("update payment set status = 'disputed' where user_id = $1", [id]);
    // A dispute that is lost stays one, and nothing can be done about it here.
    const disputed = await shown("/billing");
    expect(disputed).toMatch(/Your one-time payment for Pro was disputed\. It gives .* in our favor\./);
    expect(disputed).not.toContain("The last payment");
    expect(await shown("/dashboard")).not.toMatch(/disputed/);
    await createSubscription(test, id, { plan_id: "team", current_period_end: "2090-03-04" });
    const both = await shown("/billing");
    expect(both).toContain("Switch to Pro");
    expect(both).not.toMatch(/disputed|one-time payment/);
  });
});

describe("a subscription whose payment failed", () => {
  it("shows its scheduled end too", async () => {
    const { id, cookie } = await createUser(test, "Somebody New", { isHttps: true });
    await createSubscription(test, id, {
      status: "past_due",
      current_period_end: "2090-03-04",
      cancel_at_period_end: true,
    });
    const { text } = await openPage(server.url, "/billing", cookie);
    expect(text).toMatch(/Your last payment failed\. .*It ends on March 4, 2090 and won’t renew\./);
  });
});

describe("two-factor authentication", () => {
  const act = (name: string, fields: Fields, cookie = "") => {
    const action = findServerAction(name);
    return callAction(server.url, action, encodeArguments([fields]), { cookie });
  };

  it("is set up with the password and a code, and asked for when signing in", async () => {
    const { cookie, email, password } = await createUser(test, "Somebody New", { isHttps: true });
    const response = await sendForm(server.url, "/settings/security", cookie, {
      on: "Set up two-factor authentication",
      fields: { password },
    });
    const [, secret = ""] = />([A-Z2-7]{16,}=*)</.exec(response.html) ?? [];
    const codes = [...response.html.matchAll(/<li class="select-all">([^<]+)</g)].map(([, code]) => code);
    expect([secret, codes.length]).toEqual([expect.stringMatching(/./), 10]);
    expect(response.html).toContain('aria-label="QR code for your authenticator app"');
    const confirmed = await act(
      "confirmTwoFactor",
      { code: totp(`otpauth://totp/x?secret=${secret}`) },
      cookie,
    );
    expect(confirmed.redirect).toBe("/settings/security?done=two-factor-on");
    const on = (await openPage(server.url, confirmed.redirect ?? "", cookieOf(confirmed))).text;
    expect(on).toContain("Two-factor authentication is on.");
    expect(on).toContain("Turn off two-factor authentication");
    expect(on).toContain(" Signing in also requires a code from an authenticator app.");

    const first = await act("signIn", { email, password, next: "/billing" });
    expect(first.redirect).toBe("/sign-in/two-factor?next=%2Fbilling");
    const pending = cookieOf(first);
    expect((await openPage(server.url, "/settings", pending)).status).toBe(307);
    const asked = await openPage(server.url, "/sign-in/two-factor?next=%2Fbilling", pending);
    expect(asked.text).toMatch(/Enter the code from your authenticator app\..* Code 6 digits\. /);
    expect(asked.html).toMatch(/<input(?=[^>]* name="code")[^>]* title="6 digits\."/);
    expect(asked.html).toMatch(/href="\/sign-in\?next=%2Fbilling"[^>]*>Back to sign-in</);
    const wrong = await act("signInWithCode", { code: "000000" }, pending);
    expect(wrong.thrown).toMatchObject({ digest: expect.stringMatching(/^refusal:/) });
    const backup = { code: codes[0] as string, next: "/billing" };
    const second = await act("signInWithBackupCode", backup, pending);
    expect(second.redirect).toBe("/billing");
    expect((await openPage(server.url, "/settings", cookieOf(second))).status).toBe(200);
  });
});

describe("the security page", () => {
  it("says that two-factor authentication is on or off only while it is", async () => {
    const { cookie } = await createUser(test, "Somebody New", { isHttps: true });
    const shown = async (done: string) =>
      (await openPage(server.url, `/settings/security?done=${done}`, cookie)).text;
    expect(await shown("two-factor-off")).toContain("Two-factor authentication is off.");
    const text = await shown("two-factor-on");
    expect(text).not.toContain("Two-factor authentication is on.");
    expect(text).toContain("Once it’s on, signing in also requires a code");
  });
});

describe("an event endpoint", () => {
  it("says in the reader's language why an event was not sent", async () => {
    const { id, cookie } = await createUser(test, "Grace", { isHttps: true, role: "admin" });
    await test.rows(`update "user" set locale = 'de' where id = $1`, [id]);
    const [endpoint] = await test.rows<{ id: string }>(
      `insert into event_endpoint (url, types, secret, enabled)
       values ('https://10.0.0.1/hook', '{payment.paid}', 'whsec_AAAA', false) returning id`,
    );
    const path = `/admin/event-endpoints/${endpoint?.id}`;
    const sent = await sendForm(server.url, path, cookie, { on: "Testereignis senden", fields: {} });
    const reason = "Die URL führt zu einer nicht öffentlichen Adresse";
    expect(sent.text).toContain(`Nicht zugestellt: ${reason}`);
    const { text } = await openPage(server.url, path, cookie);
    expect(text).toMatch(new RegExp(`1 Versuch .* · ${reason} · `));
  });
});

describe("a change of the email address", () => {
  it("is confirmed from both addresses, with a button", async () => {
    const { cookie, email } = await createUser(test, "Somebody New", { isHttps: true });
    const newEmail = `new-${email}`;
    const sent = await sendForm(server.url, "/settings", cookie, {
      on: "Change email address",
      fields: { newEmail },
    });
    expect(sent.text).toContain("Check both inboxes and open the links to confirm.");
    const settings = async () => (await openPage(server.url, "/settings", cookie)).text;
    expect([sent.text, await settings()]).toEqual(
      Array(2).fill(expect.stringContaining(`Not confirmed yet ${newEmail} `)),
    );
    const outcomes = [];
    for (const address of [email, newEmail]) {
      const [link] = await vi.waitFor(async () => {
        const link = /\/confirm-email-change\?token=[\w-]+/.exec(await lastMailTo(address));
        return link ?? Promise.reject(new Error(`no mail to ${address} yet`));
      }, 30_000);
      const page = await sendForm(server.url, link, "", { on: "Confirm change", fields: {} });
      outcomes.push(page.location);
    }
    expect(outcomes).toEqual(["/confirm-email-change?done=pending", "/confirm-email-change?done=changed"]);
    expect(await settings()).toContain(`Current email address ${newEmail} New email address`);
    expect((await openPage(server.url, "/confirm-email-change", "")).text).toContain("This link isn’t valid");
    // A used link is refused below its button: the way on has to be there already.
    const used = await openPage(server.url, "/confirm-email-change?token=used", "");
    expect(used.text).toContain(" Go to settings ");
  });

  it("is said to be confirmed only after the link of a mail", async () => {
    const titleOf = async (path: string) => headingsOf((await openPage(server.url, path, "")).html);
    expect(await titleOf("/verify-email")).toEqual(["This link isn’t valid"]);
    expect(await titleOf("/verify-email?done&error=TOKEN_EXPIRED")).toEqual(["This link isn’t valid"]);
    expect(await titleOf("/verify-email?done")).toEqual(["Email address confirmed"]);
  });

  it("is not confirmed where no confirmation is required any more: the mail's link leads to the sign-in", async () => {
    const link = "/verify-email?token=mailed-before&callbackURL=%2Fverify-email%3Fdone";
    const pressed = await sendForm(server.url, link, "", { on: "Confirm address", fields: {} });
    expect(pressed.location).toBe("/sign-in");
  });
});
