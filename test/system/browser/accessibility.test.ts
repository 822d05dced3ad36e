import { mkdir } from "node:fs/promises";
import axeCore from "axe-core";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startBrowser } from "../../support/browser.ts";
import { eventually } from "../../support/eventually.ts";
import { sendRequest } from "../../support/http.ts";
import { createUser } from "../../support/people.ts";
import { createSubscription } from "../../support/subscriptions.ts";
import { describeInBrowser } from "./describe-in-browser.ts";
import { type SeededSite, seedSite } from "./seed-site.ts";
import { openSite, type Site } from "./site.ts";
import { failOnComplaints, openVisitor, type Visitor, visit } from "./visit.ts";

/** With SCREENSHOTS=1 a screenshot of every page is stored here. */
const FOLDER = process.env.SCREENSHOTS === "1" ? "test-results/screenshots" : null;
/** Pages that show several states, each with a heading that is the tab's title too. */
const STATES = /^(forgotten|reset|verify|confirm|onboarding)-/;
const WIDE = { width: 1280, height: 800 };
/** WCAG 2.2, 1.4.10: as wide as a window of 1280 pixels whose content is enlarged four times. */
const NARROW = { width: 320, height: 640 };
const PHONE = { width: 390, height: 844 };

type Who = "nobody" | "newcomer" | "admin";
const PAGES: readonly [name: string, path: string, who: Who, status?: number][] = [
  ["landing", "/", "nobody"],
  ["landing-signed-in", "/", "newcomer"],
  ["sign-up", "/sign-up", "nobody"],
  ["sign-up-sent", "/sign-up/sent", "nobody"],
  ["sign-in", "/sign-in?next=/settings", "nobody"],
  ["forgotten-password", "/forgotten-password", "nobody"],
  ["forgotten-password-sent", "/forgotten-password?sent", "nobody"],
  ["reset-password", "/reset-password?token=abc", "nobody"],
  ["reset-password-invalid", "/reset-password?error=INVALID_TOKEN", "nobody"],
  ["verify-email", "/verify-email?token=abc", "nobody"],
  ["verify-email-done", "/verify-email?done", "nobody"],
  ["verify-email-invalid", "/verify-email?error=INVALID_TOKEN", "nobody"],
  ["sign-in-two-factor", "/sign-in/two-factor?next=/billing", "nobody"],
  ["sign-in-two-factor-backup", "/sign-in/two-factor?backup", "nobody"],
  ["confirm-email-change", "/confirm-email-change?token=abc", "nobody"],
  ["confirm-email-change-invalid", "/confirm-email-change", "nobody"],
  ["confirm-email-change-done", "/confirm-email-change?done=changed", "newcomer"],
  ["farewell", "/farewell", "nobody"],
  ["not-found", "/nothing/here", "nobody", 404],
  ["onboarding-1", "/onboarding", "newcomer"],
  ["onboarding-2", "/onboarding?step=2", "newcomer"],
  ["onboarding-3", "/onboarding?step=3", "newcomer"],
  ["dashboard-new", "/dashboard", "newcomer"],
  ["billing-new", "/billing", "newcomer"],
  ["api-keys-new", "/api-keys", "newcomer"],
  ["notifications-new", "/notifications", "newcomer"],
  ["settings", "/settings", "newcomer"],
  ["security", "/settings/security", "newcomer"],
  ["forbidden", "/admin/users", "newcomer", 403],
  ["dashboard", "/dashboard", "admin"],
  ["billing", "/billing", "admin"],
  ["billing-cancelled", "/billing?checkout=cancelled", "admin"],
  ["api-keys", "/api-keys", "admin"],
  ["notifications", "/notifications", "admin"],
  ["admin-users", "/admin/users", "admin"],
  ["admin-users-none", "/admin/users?search=zzz", "admin"],
  ["admin-user", "/admin/users/user_3", "admin"],
  ["admin-webhooks", "/admin/webhooks", "admin"],
  ["admin-delivery", "/admin/webhooks/FAILED", "admin"],
  ["admin-subscriptions", "/admin/subscriptions", "admin"],
  ["admin-subscription", "/admin/subscriptions/OUT_OF_ORDER", "admin"],
  ["admin-service-keys", "/admin/service-keys", "admin"],
  ["admin-event-endpoints", "/admin/event-endpoints", "admin"],
  ["admin-event-endpoint", "/admin/event-endpoints/EVENT_ENDPOINT", "admin"],
  ["admin-audit", "/admin/audit", "admin"],
  ["admin-audit-none", "/admin/audit?action=nothing.of_that_name", "admin"],
  ["admin-not-found", "/admin/webhooks/999999", "admin", 404],
  ["api-keys-not-found", "/api-keys?cursor=x", "admin", 404],
];

describeInBrowser("every page", () => {
  let site: Site;
  let browser: Browser;
  let seeded: SeededSite;
  // New contexts would load and compile the scripts of every page anew.
  const visitors = {} as Record<Who, Visitor>;
  beforeAll(async () => {
    if (FOLDER !== null) await mkdir(FOLDER, { recursive: true });
    site = await openSite();
    seeded = await seedSite(site);
    browser = await startBrowser();
    for (const role of ["nobody", "newcomer", "admin"] as const) {
      visitors[role] = await openVisitor(browser, site, optionsOf(role));
      await visitors[role].page.addInitScript(WATCH_SHIFTS);
    }
  }, 180_000);
  afterAll(async () => {
    await browser?.close();
    await site?.close();
  });

  const options = { reducedMotion: "reduce", bypassCSP: true, viewport: WIDE } as const;
  const optionsOf = (role: Who) => ({ ...options, ...(role === "nobody" ? {} : { as: seeded[role] }) });
  const visitAs = (role: Who, more: object = {}) => visit(browser, site, { ...optionsOf(role), ...more });

  it.each(PAGES)(
    "passes axe-core in both themes and widths, without clipped or shifting content: %s (%s)",
    async (name, path, role, status = 200) => {
      const { page } = visitors[role];
      const expected = status === 200 ? undefined : new RegExp(`^refused: ${status} /`);
      failOnComplaints(visitors[role], site, { expected });
      await page.setViewportSize(WIDE);
      await page.emulateMedia({ colorScheme: "light" });
      if (path === "/farewell") await page.context().addCookies([DELETED(site.url)]);
      const answer = await page.goto(
        path
          .replace("FAILED", seeded.failedId)
          .replace("OUT_OF_ORDER", seeded.outOfOrderId)
          .replace("EVENT_ENDPOINT", seeded.endpointId),
      );
      expect(answer?.status()).toBe(status);
      await settled(page);
      expect(await page.evaluate<number>("window.shifted")).toBeLessThan(MOST_SHIFTED);
      const violations: Record<string, unknown> = {};
      for (const [width, viewport] of Object.entries({ 1280: WIDE, 320: NARROW })) {
        await page.setViewportSize(viewport);
        for (const colorScheme of ["light", "dark"] as const) {
          await page.emulateMedia({ colorScheme });
          // A theme changes only colours, and a width only which elements are shown.
          const rules = colorScheme === "light" ? undefined : ["color-contrast"];
          violations[`${width} ${colorScheme}`] = await axe(page, rules);
          await photograph(page, `${name}-${width}-${colorScheme}`);
        }
        violations[`${width} overflow`] = await page.evaluate(OVERFLOWING);
      }
      expect(violations).toEqual({
        "1280 light": [],
        "1280 dark": [],
        "320 light": [],
        "320 dark": [],
        "1280 overflow": [],
        "320 overflow": [],
      });
      expect(await page.locator("h1:visible").count()).toBe(1);
      if (status !== 200 || STATES.test(name))
        await eventually(() => page.title(), `${await page.locator("h1").textContent()} · Tollgate`);
    },
  );

  it("has room for long names without spaces", async () => {
    const { id, cookie } = await createUser(site.test, "n".repeat(100), { role: "admin" });
    const email = `${"e".repeat(64)}@${"d".repeat(60)}.example`;
    await site.test.rows('update "user" set email = $2 where id = $1', [id, email]);
    const page = await visit(browser, site, { ...options, viewport: NARROW, as: { cookie } });
    const surplus = async (path: string) => {
      await page.goto(path);
      await settled(page);
      await page.evaluate("for (const details of document.querySelectorAll('details')) details.open = true");
      return page.evaluate("document.documentElement.scrollWidth - innerWidth");
    };
    expect.soft(await surplus("/settings")).toBe(0);
    // A plan that is not in the file is shown by its id.
    for (const n of [1, 2]) await createSubscription(site.test, id, { plan_id: `${n}`.repeat(60) });
    await sendRequest(site.url, "POST", "/api/api-keys", { cookie, body: { name: "k".repeat(100) } });
    for (const path of ["/dashboard", "/billing", `/admin/users/${id}`, "/api-keys", "/notifications"])
      expect.soft(await surplus(path), path).toBe(0);
    await page.setViewportSize({ ...WIDE, width: 1024 });
    expect(await surplus("/api-keys"), "beside the side bar").toBe(0);
  });

  it.each(["/", "/settings"])("has room for letters twice as large on a phone: %s", async (path) => {
    const page = await visitAs("admin", { viewport: PHONE });
    await page.goto(path);
    await settled(page);
    await page.evaluate("document.documentElement.style.fontSize = '200%'");
    expect(await page.evaluate(OVERFLOWING)).toEqual([]);
  });

  it.each(["/admin/audit", "/admin/webhooks", "/admin/event-endpoints"])(
    "has room for letters twice as large in forms beside a table: %s",
    async (path) => {
      const page = await visitAs("admin", { viewport: PHONE });
      await page.goto(path);
      await settled(page);
      await page.evaluate("document.documentElement.style.fontSize = '200%'");
      const overflowing = await page.evaluate<string[]>(overflowingIn("form *"));
      expect(overflowing).toEqual([]);
    },
  );

  it("cuts a name off at its end, also one that is written from right to left", async () => {
    const { cookie } = await createUser(site.test, "عبد الرحمن بن محمد ".repeat(5).trim(), { role: "admin" });
    const page = await visit(browser, site, { ...options, as: { cookie } });
    await page.goto("/admin/users");
    await settled(page);
    await page.getByRole("link", { name: /عبد/ }).waitFor();
    expect(await page.evaluate(BEGINNING_HIDDEN)).toEqual([]);
  });

  it.each([768, 1024])("has room for the tables of %s pixels", async (width) => {
    const page = await visitAs("admin", { viewport: { ...WIDE, width } });
    const { id } = await createUser(site.test);
    await createSubscription(site.test, id, { plan_id: "p".repeat(60), out_of_order: true });
    for (const list of ["users", "webhooks", "subscriptions", "audit"]) {
      await page.goto(`/admin/${list}`);
      await settled(page);
      expect.soft(await page.evaluate(OVERFLOWING), list).toEqual([]);
      const name = await page.locator("tbody th:visible").first().boundingBox();
      expect.soft(name?.width, list).toBeGreaterThan(100);
    }
  });

  it("has a side bar that scrolls by itself in a low window, and is not printed", async () => {
    const page = await visitAs("admin", { viewport: { width: 1280, height: 400 } });
    await page.goto("/settings");
    const signOut = page.getByRole("complementary").getByRole("button", { name: "Sign out" });
    await signOut.focus();
    const { y = 0, height = 0 } = (await signOut.boundingBox()) ?? {};
    expect(y + height).toBeLessThanOrEqual(400);
    expect(await page.evaluate("scrollY")).toBe(0);
    await page.emulateMedia({ media: "print" });
    await signOut.waitFor({ state: "hidden" });
    expect((await page.getByRole("main").boundingBox())?.x).toBeLessThan(200);
  });

  it("is printed dark on light whatever the theme, with the time of what is some time ago", async () => {
    const page = await visitAs("admin", { colorScheme: "dark" });
    await page.goto("/billing");
    await settled(page);
    await page.evaluate("document.documentElement.dataset.theme = 'dark'");
    const ink = () => page.evaluate("getComputedStyle(document.querySelector('main')).color");
    expect(await ink()).toBe("rgb(236, 237, 237)");
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    expect(await ink()).toBe("rgb(26, 27, 29)");
    const paid = page.getByRole("table").locator("time").first();
    await paid.locator("span").waitFor({ state: "hidden" });
    expect(await paid.evaluate((time) => getComputedStyle(time, "::before").content)).toMatch(
      /^"\w+ \d.* UTC"$/,
    );
  });

  it("underlines the current page and the chosen tab in forced colors", async () => {
    const page = await visitAs("admin");
    await page.goto("/billing");
    const current = page.locator("a[aria-current=page]:visible");
    const lines = () =>
      current.evaluateAll((links) => links.map((link) => getComputedStyle(link).textDecorationLine));
    expect(await lines()).toEqual(["none", "none"]);
    await page.emulateMedia({ forcedColors: "active" });
    expect(await lines()).toEqual(["underline", "underline"]);
  });

  it("keeps deliveries within a narrow screen, with the reason of a failure, in German too", async () => {
    const { id, cookie } = await createUser(site.test, "Ada", { role: "admin" });
    await site.test.rows("update \"user\" set locale = 'de' where id = $1", [id]);
    const page = await visit(browser, site, { ...options, viewport: NARROW, as: { cookie } });
    await page.goto(`/admin/event-endpoints/${seeded.endpointId}`);
    await page.getByText("Fehlgeschlagen", { exact: true }).filter({ visible: true }).waitFor();
    expect(await page.evaluate(OVERFLOWING)).toEqual([]);
    await page.goto("/admin/webhooks");
    const reason = page.getByText("Benutzer nicht gefunden").first();
    expect(await reason.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
    expect(await page.evaluate(OVERFLOWING)).toEqual([]);
  });

  it("keeps payments within their table on a phone", async () => {
    const user = await createUser(site.test);
    await site.test.rows("update \"user\" set locale = 'de' where id = $1", [user.id]);
    await site.test.rows(
      `insert into payment (provider, provider_payment_id, user_id, amount, currency, state, status, occurred_at)
       values ('provider-a', 'large', $1, 123456789, 'eur', 'failed', 'failed', now() - interval '11 minutes')`,
      [user.id],
    );
    const page = await visit(browser, site, { ...options, viewport: NARROW, as: user });
    await page.goto("/billing");
    await page.locator("table", { hasText: "Fehlgeschlagen" }).waitFor();
    const surplus = "table.offsetWidth - table.parentElement.clientWidth";
    expect(
      await page.evaluate(
        `(() => { const table = document.querySelector("main table"); return ${surplus}; })()`,
      ),
    ).toBe(0);
  });

  it.each(["/", "/dashboard", "/billing", "/settings", "/admin/webhooks"])(
    "does not shift while it loads on a phone: %s",
    async (path) => {
      const page = await visitAs("admin", { viewport: NARROW });
      // The typeface comes once the page is shown without it.
      await page.route("**/*.woff2", async (route) => {
        await page.waitForFunction("performance.getEntriesByName('first-contentful-paint').length > 0");
        await route.continue();
      });
      await page.addInitScript(WATCH_SHIFTS);
      await page.goto(path);
      await settled(page);
      expect(await page.evaluate<number>("window.shifted")).toBeLessThan(MOST_SHIFTED);
    },
  );

  it("shows an error with a reference and a link when it fails", async () => {
    const page = await visitAs("admin", {
      expected: /^refused: 50\d \/admin|^console: .*#441|^server: .*could not be read/s,
    });
    await site.test.rows("alter table webhook_delivery rename to away");
    try {
      await page.goto("/admin/webhooks");
      await page.getByRole("heading", { level: 1, name: "This page couldn’t be loaded" }).waitFor();
      await page.getByText(/^[0-9a-f-]{36}$/).waitFor();
      await eventually(() => page.title(), "This page couldn’t be loaded · Tollgate");
      expect(await axe(page)).toEqual([]);
      await photograph(page, "failed-1280-light");
    } finally {
      await site.test.rows("alter table away rename to webhook_delivery");
    }
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("heading", { level: 1, name: "Webhooks" }).waitFor();
    await eventually(() => page.title(), "Webhooks · Tollgate");
  });

  it("can be used with the keyboard, with visible focus", async () => {
    const page = await visitAs("nobody");
    await page.goto("/sign-in?next=/admin/webhooks");
    await settled(page);
    await page.keyboard.press("Tab");
    await eventually(() => focused(page), { name: "Skip to content", isShown: true });
    await page.keyboard.press("Enter");
    for (const [name, typed] of [
      ["Email address", seeded.admin.email],
      ["Password", seeded.admin.password],
      ["Stay signed in", " "],
    ] as const) {
      await page.keyboard.press("Tab");
      await eventually(() => focused(page), { name, isShown: true });
      await page.keyboard.type(typed);
    }
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.waitForURL("/admin/webhooks");

    await settled(page);
    const rows = page.locator("a[data-row]");
    await rows.first().focus();
    await page.keyboard.press("ArrowDown");
    await rows.nth(1).and(page.locator(":focus")).waitFor();
    await page.keyboard.press("ArrowUp");
    await rows.first().and(page.locator(":focus")).waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/admin\/webhooks\/\d+/);

    await page.setViewportSize(NARROW);
    const menu = page.getByRole("button", { name: "Open menu" });
    await menu.focus();
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    await page.locator("#sheet :focus").waitFor();
    await page.keyboard.press("Escape");
    await page.locator("#sheet").waitFor({ state: "hidden" });
    await menu.and(page.locator(":focus")).waitFor();

    await page.keyboard.press("Enter");
    const sheet = page.locator("#sheet");
    await sheet.getByRole("button", { name: "Sign out" }).focus();
    await page.keyboard.press("Tab");
    await sheet.waitFor({ state: "hidden" });
    expect(await focused(page)).toMatchObject({ isShown: true });
    await menu.click();
    await sheet.getByRole("link", { name: "Billing" }).focus();
    await menu.click();
    await sheet.waitFor({ state: "hidden" });
  });

  it("keeps the keyboard's focus on a filter, and gives it to the heading of a page that was waited for", async () => {
    const page = await visitAs("admin");
    await page.goto("/admin/webhooks");
    await settled(page);
    await page.getByLabel("Status").focus();
    await page.keyboard.press("ArrowDown");
    await page.waitForURL("/admin/webhooks?status=pending");
    await page.getByText("No deliveries found").waitFor();
    await eventually(() => focused(page), { name: "Status", isShown: true });

    await site.test.rows(
      `insert into notification (user_id, kind, details)
       select $1, 'api_key_created', '{"name": "CI", "prefix": "tg_1"}' from generate_series(1, 60)`,
      [seeded.admin.id],
    );
    await page.goto("/notifications");
    await settled(page);
    await page.route("**/notifications?cursor=*", async (route) => {
      await page.getByRole("heading", { level: 1 }).waitFor({ state: "hidden" });
      await route.continue();
    });
    await page.getByRole("link", { name: "Next page" }).focus();
    await page.keyboard.press("Enter");
    await page.waitForURL(/cursor=/);
    await page.getByRole("heading", { level: 1 }).and(page.locator(":focus")).waitFor();
  });

  it("names the switch of the live log by the text that is on it, too", async () => {
    const page = await visitAs("admin");
    await page.goto("/admin/webhooks");
    await page.getByRole("switch", { name: "Refresh automatically Paused", exact: true }).click();
    await page.getByRole("switch", { name: "Refresh automatically Live", exact: true }).waitFor();
  });

  it("keeps the keyboard's focus on a form that was sent", async () => {
    const page = await visitAs("newcomer");
    await page.goto("/settings");
    await settled(page);
    await page.getByRole("button", { name: "Save name" }).focus();
    await page.keyboard.press("Enter");
    await page.getByText("Name saved.").waitFor();
    expect(await focused(page)).toMatchObject({ name: "Save name", isShown: true });

    await page.goto("/settings/security");
    await settled(page);
    await page.getByLabel("Password").fill(seeded.newcomer.password);
    await page.keyboard.press("Enter");
    await eventually(
      async () => (await focused(page)).name,
      "Scan this QR code with your authenticator app, or enter the key by hand.",
    );
  });
});

/** The cookie of somebody who has just deleted the account. */
const DELETED = (url: string) => ({ name: "tollgate-account-deleted", value: "1", url: `${url}/farewell` });

/** A fifth of what counts as good: https://web.dev/articles/cls */
const MOST_SHIFTED = 0.02;

const WATCH_SHIFTS = `window.shifted = 0;
new PerformanceObserver((list) => {
  for (const shift of list.getEntries()) if (!shift.hadRecentInput) window.shifted += shift.value;
}).observe({ type: "layout-shift", buffered: true });`;

/** Which of these elements make the page wider than the window. */
const overflowingIn = (selector: string) => `document.documentElement.scrollWidth <= innerWidth ? [] :
  [...document.querySelectorAll("${selector}")]
    .filter((element) => element.getBoundingClientRect().right > innerWidth + 1)
    .map((element) => element.outerHTML.slice(0, 150))`;
const OVERFLOWING = overflowingIn("body *");

/** The names whose first letter is cut off. */
const BEGINNING_HIDDEN = `[...document.querySelectorAll("aside p, tbody th a")].filter((element) => {
    const letter = document.createRange();
    letter.setStart(element.firstChild, 0);
    letter.setEnd(element.firstChild, 1);
    const [shown, box] = [letter.getBoundingClientRect(), element.getBoundingClientRect()];
    return element.checkVisibility() && (shown.left < box.left - 1 || shown.right > box.right + 1);
  }).map((element) => element.textContent)`;

async function photograph(page: Page, name: string): Promise<void> {
  if (FOLDER !== null) await page.screenshot({ path: `${FOLDER}/${name}.png`, fullPage: true });
}

/** Waits until the fonts are loaded and React has hydrated the page. */
async function settled(page: Page): Promise<void> {
  await page.waitForLoadState("load");
  await page.evaluate("document.fonts.ready.then(() => null)");
  const isHeld = () =>
    page.evaluate<boolean>('Object.keys(document.body).some((key) => key.startsWith("__reactProps$"))');
  await eventually(isHeld, true);
}

/** The focused element, by its label or text, and whether its focus is visible. */
async function focused(page: Page): Promise<{ name: string; isShown: boolean }> {
  return page.evaluate(`(() => {
    const element = document.activeElement;
    const { outlineStyle, outlineWidth } = getComputedStyle(element);
    const { top, left, width, height } = element.getBoundingClientRect();
    return {
      name: (element.labels?.[0]?.textContent ?? element.textContent).trim(),
      isShown: outlineStyle !== "none" && parseFloat(outlineWidth) >= 2 && top >= 0 && left >= 0 && width * height > 0,
    };
  })()`);
}

type Violation = { id: string; impact: string; nodes: { html: string; any: { message: string }[] }[] };

/** Of WCAG too, which axe-core leaves out by default. */
const RULES = {
  rules: { "target-size": { enabled: true }, "label-content-name-mismatch": { enabled: true } },
};

/**
 * What axe-core finds: WCAG's levels A and AA, and good habits. The page's context has to bypass its policy.
 * @param only these rules
 */
async function axe(page: Page, only?: readonly string[]): Promise<string[]> {
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(axeCore.source);
  const options = JSON.stringify(only ? { runOnly: only } : RULES);
  const { violations } = await page.evaluate<{ violations: Violation[] }>(
    `axe.run(document, { resultTypes: ["violations"], ...${options} })`,
  );
  return violations.flatMap(({ id, impact, nodes }) =>
    nodes.map(({ html, any }) => `${impact} ${id}: ${html.slice(0, 200)} ${any[0]?.message ?? ""}`),
  );
}
