import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { sendRequest } from "../../support/http.ts";
import { createUser, type TestUser } from "../../support/people.ts";
import { describeInBrowser } from "./describe-in-browser.ts";
import { fill, press } from "./page-actions.ts";
import { siteInBrowser } from "./site-in-browser.ts";
import { waitForHydration } from "./wait-for-hydration.ts";

describeInBrowser("a page that has been open for a while", () => {
  const { site, visit } = siteInBrowser();
  const nameOf = async ({ id }: TestUser) =>
    (await site.test.rows<{ name: string }>(`select name from "user" where id = $1`, [id]))[0]?.name;

  it("keeps what is typed and chosen while a form is being saved", async () => {
    const page = await visit({ as: await createUser(site.test) });
    const held = await holdForms(page);
    await page.goto("/settings");
    const name = await waitForHydration(page.getByLabel("Name", { exact: true }));
    await name.fill("Saved");
    await press(page, "Save name");
    await held.sent();
    await name.fill("Typed later");
    await held.release();
    await page.getByText("Name saved.").waitFor();
    expect(await name.inputValue()).toBe("Typed later");

    const [theme, emails] = [
      page.getByLabel("Theme"),
      page.getByRole("checkbox", { name: "Email notifications" }),
    ];
    await theme.selectOption("dark");
    await press(page, "Save preferences");
    await held.sent();
    await theme.selectOption("light");
    const wasChecked = await emails.isChecked();
    await emails.click();
    await held.release();
    await page.getByText("Preferences saved.").waitFor();
    expect([await theme.inputValue(), await emails.isChecked()]).toEqual(["light", !wasChecked]);
  });

  it("can be loaded again, in each language, where the answer to a form is cut off", async () => {
    // React: "Connection closed".
    const page = await visit({ as: await createUser(site.test), expected: /Minified React error #412/ });
    await page.goto("/settings");
    await page.route("**/settings", async (route) => {
      const response = await route.fetch();
      const answer = await response.text();
      // With what became of the form, but without the layout of the page.
      await route.fulfill({ response, body: answer.slice(0, answer.indexOf('["$","html"')) });
    });
    // Without scripts, the browser would send the form itself and show the answer as a page.
    await (await waitForHydration(page.getByLabel("Name", { exact: true }))).fill("Saved");
    await press(page, "Save name");
    await page.getByRole("button", { name: "Erneut versuchen" }).waitFor();
    await page.unroute("**/settings");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor();
    expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("Saved");
  });

  it("sends a form once, however often its button is pressed, and keeps what is shown once", async () => {
    const someone = await createUser(site.test);
    const page = await visit({ as: someone });
    const held = await holdForms(page);
    await page.goto("/api-keys");
    const name = await waitForHydration(page.getByLabel("Name", { exact: true }));
    await name.fill("Nightly job");
    await press(page, "Create key");
    await held.sent();
    await name.press("Enter");
    await page.getByRole("button", { name: "Create key", exact: true }).dispatchEvent("click");
    await held.release();
    const key = page.getByRole("region", { name: "Copy your new key now" });
    await key.and(page.locator(":focus")).waitFor();
    await page.locator("[aria-disabled=true]").waitFor({ state: "detached" });
    expect(await site.test.rows("select name from api_key where user_id = $1", [someone.id])).toEqual([
      { name: "Nightly job" },
    ]);
    expect(await name.inputValue()).toBe("");
    await page.evaluate("navigator.clipboard.writeText = () => Promise.reject(new Error('denied'))");
    await key.getByRole("button", { name: "Copy" }).first().click();
    await key.getByRole("button", { name: "Copy it manually" }).waitFor();

    await name.fill("  ");
    await press(page, "Create key");
    await held.sent();
    await held.release();
    await page.getByText("Enter 1 to 100 characters.").first().waitFor();
    await key.getByText(/^tg_\w{40}$/).waitFor();
  });

  it("says which key was not revoked, and says so at that one alone", async () => {
    const { cookie } = await createUser(site.test);
    for (const name of ["Warehouse", "Newsletter"])
      await sendRequest(site.url, "POST", "/api/api-keys", { cookie, body: { name } });
    const page = await visit({ as: { cookie } });
    await page.goto("/api-keys");
    const rows = page.getByRole("listitem").filter({ hasText: "Revoke…" });
    for (const row of await rows.all()) await (await waitForHydration(row.getByText("Revoke…"))).click();
    await page.getByLabel("Type Warehouse to confirm").fill("Newsletter");
    await rows.filter({ hasText: "Warehouse" }).getByRole("button", { name: "Revoke key" }).click();
    const refusal = "That doesn’t match the key’s name.";
    await rows.filter({ hasText: "Warehouse" }).getByText(refusal).waitFor();
    expect(await rows.filter({ hasText: "Newsletter" }).getByText(refusal).count()).toBe(0);

    await site.test.rows("delete from api_key where name = 'Warehouse'");
    await page.getByLabel("Type Warehouse to confirm").fill("Warehouse");
    await rows.filter({ hasText: "Warehouse" }).getByRole("button", { name: "Revoke key" }).click();
    await page.getByText("This API key no longer exists.").waitFor();
    await rows.filter({ hasText: "Warehouse" }).waitFor({ state: "detached" });
  });

  it("shows the secret of an authenticator app until its code is right", async () => {
    const someone = await createUser(site.test);
    const page = await visit({ as: someone });
    await page.goto("/settings/security");
    const password = await waitForHydration(page.getByLabel("Current password"));
    await password.fill(someone.password);
    await press(page, "Set up two-factor authentication");
    await page.getByLabel("Code from the app").fill("000000");
    await press(page, "Turn on");
    await page.getByText("This code is incorrect.").first().waitFor();
    await page.getByRole("img", { name: "QR code for your authenticator app" }).waitFor();
    expect(await page.locator("li.select-all").count()).toBe(10);
  });

  it("says that it is out of date when the server no longer knows its form", async () => {
    const page = await visit({ as: await createUser(site.test), expected: /refused: 409 \/settings/ });
    await outdateForms(page);
    await page.goto("/settings");
    const name = await waitForHydration(page.getByLabel("Name", { exact: true }));
    await name.fill("Not saved");
    await press(page, "Save name");
    await page.getByText("This page is out of date, so nothing was saved.").waitFor();
    expect(await name.inputValue()).toBe("Not saved");
  });

  it.each([
    ["This page is out of date", outdateForms, /^refused: 409 /],
    ["We couldn’t reach the server", loseForms, /^failed: .*\/settings /],
  ] as const)(
    "says why nobody was signed out, and keeps what was typed: %s",
    async (reason, breakForms, expected) => {
      const page = await visit({ as: await createUser(site.test), expected });
      await breakForms(page);
      await page.goto("/settings");
      const name = await waitForHydration(page.getByLabel("Name", { exact: true }));
      await name.fill("Typed");
      const bar = page.getByRole("complementary");
      await bar.getByRole("button", { name: "Sign out" }).click();
      await bar.getByRole("alert").getByText(reason).waitFor();
      expect(await name.inputValue()).toBe("Typed");
      await page.unrouteAll();
      await bar.getByRole("button", { name: "Sign out" }).click();
      await page.waitForURL("/sign-in?after=signing-out");
    },
  );

  it.each([true, false])(
    "leaves whoever has signed in since as they are (JavaScript: %s)",
    async (javaScriptEnabled) => {
      const [before, since] = [await createUser(site.test), await createUser(site.test)];
      const page = await visit({ as: before, javaScriptEnabled });
      await page.goto("/settings");
      const otherTab = await page.context().newPage();
      await page.context().clearCookies();
      await otherTab.goto("/sign-in?next=/dashboard");
      await fill(otherTab, { "Email address": since.email, Password: since.password });
      await press(otherTab, "Sign in");
      await otherTab.waitForURL("/dashboard");

      const name = page.getByLabel("Name", { exact: true });
      if (javaScriptEnabled) await waitForHydration(name);
      await name.fill("Renamed");
      await press(page, "Save name");
      await page.getByText("You’re now signed in to another account, so nothing was saved.").waitFor();
      await page.getByRole("complementary").getByText(since.email).waitFor();
      expect([await nameOf(before), await nameOf(since)]).toEqual(["Somebody New", "Somebody New"]);
      await press(page, "Save name");
      await page.getByText("Name saved.").waitFor();
      expect([await nameOf(before), await nameOf(since)]).toEqual(["Somebody New", "Renamed"]);
    },
  );

  it("tells password managers whose password its forms ask for", async () => {
    const page = await visit({ as: await createUser(site.test) });
    const remarks: string[] = [];
    page.on("console", (message) => remarks.push(message.text()));
    for (const path of ["/settings", "/settings/security"]) {
      await page.goto(path);
      await waitForHydration(page.getByLabel("Current password"));
    }
    // Of Chromium itself.
    expect(remarks.filter((remark) => remark.startsWith("[DOM]"))).toEqual([]);
  });

  it("stays while it waits for a payment and the connection is lost", async () => {
    const page = await visit({ as: await createUser(site.test), expected: /^failed: .*\/api\/ready / });
    await page.goto("/billing?checkout=completed");
    await page.getByText("Confirming your payment…").waitFor();
    await page.context().setOffline(true);
    for (const _ of [1, 2])
      await page.waitForEvent("requestfailed", (request) => request.url().endsWith("/api/ready"));
    expect(await page.getByText("Confirming your payment…").isVisible()).toBe(true);
  });

  it("has a frame that shows, after the next link, what has changed elsewhere", async () => {
    const someone = await createUser(site.test);
    const page = await visit({ as: someone });
    await page.goto("/dashboard");
    await waitForHydration(page.getByRole("link", { name: "Billing" }));
    await site.test.rows(`update "user" set name = 'Changed Elsewhere', locale = 'de' where id = $1`, [
      someone.id,
    ]);
    await page.getByRole("link", { name: "Billing" }).click();
    await page.getByRole("complementary").getByText("Changed Elsewhere").waitFor();
    await page.getByRole("link", { name: "Einstellungen" }).waitFor();
    await page.locator("html[lang=de]").waitFor();
  });

  it("has the total of the seats that were entered before its scripts had loaded", async () => {
    const page = await visit({ as: await createUser(site.test) });
    const scripts = Promise.withResolvers<void>();
    await page.route("**/*.js", async (route) => {
      await scripts.promise;
      await route.continue();
    });
    await page.goto("/billing", { waitUntil: "commit" });
    const pro = page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: "Pro" }) });
    await pro.getByLabel("Seats").fill("2");
    scripts.resolve();
    await pro.getByText("€40 / month").waitFor();
  });
});

/** As if the pages had been built anew since. */
async function outdateForms(page: Page): Promise<void> {
  await page.route("/settings", (route, request) =>
    request.method() === "POST"
      ? route.continue({ headers: { ...request.headers(), "next-action": `40${"0".repeat(40)}` } })
      : route.continue(),
  );
}

async function loseForms(page: Page): Promise<void> {
  await page.route("/settings", (route, request) =>
    request.method() === "POST" ? route.abort("internetdisconnected") : route.continue(),
  );
}

/** Holds what forms send until it is released. */
async function holdForms(page: Page) {
  let release = Promise.withResolvers<void>();
  await page.route("**", async (route, request) => {
    if (request.method() === "POST") await release.promise;
    await route.continue();
  });
  return {
    sent: () => page.locator("[aria-disabled=true]").waitFor(),
    release: async () => {
      release.resolve();
      release = Promise.withResolvers();
    },
  };
}
