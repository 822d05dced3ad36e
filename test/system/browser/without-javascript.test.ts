import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { sendRequest } from "../../support/http.ts";
import { createUser } from "../../support/people.ts";
import { totp } from "../../support/totp.ts";
import { describeInBrowser } from "./describe-in-browser.ts";
import { buy, fill, newPerson, PASSWORD, press, section } from "./page-actions.ts";
import { siteInBrowser } from "./site-in-browser.ts";

describeInBrowser("a browser without JavaScript", () => {
  const { site, visit } = siteInBrowser();

  it("signs up, completes onboarding, buys a plan, renames, signs out and in", async () => {
    const { name, email } = newPerson();
    const page = await visit({ javaScriptEnabled: false });
    await page.goto("/sign-up");
    await fill(page, { Name: name, "Email address": "user@-", Password: PASSWORD });
    await page.locator("form").evaluate((form) => form.setAttribute("novalidate", ""));
    await press(page, "Create account");
    await page.getByText("Enter an email address.").first().waitFor();
    expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe(name);
    await fill(page, { "Email address": email, Password: PASSWORD });
    await press(page, "Create account");
    await press(page, "Save and continue");
    await page.getByRole("heading", { name: "Choose your preferences" }).waitFor();
    await press(page, "Save and continue");
    await page.getByRole("button", { name: /^Choose a plan/ }).click();

    await page.waitForURL("/billing");
    const pro = page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: "Pro" }) });
    await pro.getByLabel("Seats").fill("2");
    await buy(page, "Pro");
    // Reloads by itself, also without JavaScript.
    await page.getByText("Thank you. Your subscription is set up.").waitFor();
    await section(page, "Current plan")
      .getByText(/^Renews on .+ for €40\.$/)
      .waitFor();
    await section(page, "What you can use").getByText("0 used, 100,000 left in this period").waitFor();

    await page.goto("/settings");
    await fill(page, { Name: "Ada" });
    await press(page, "Save name");
    await page.getByText("Name saved.").waitFor();
    await page.getByRole("complementary").getByText("Ada", { exact: true }).waitFor();
    await page.getByRole("complementary").getByRole("button", { name: "Sign out" }).click();
    await page.getByText("You’ve been signed out.").waitFor();
    await page.goto("/settings");
    await page.getByText("Sign in to continue.").waitFor();
    await fill(page, { "Email address": email, Password: PASSWORD });
    await press(page, "Sign in");
    await page.waitForURL("/settings");
  });

  it("creates a key, shown once, and revokes it", async () => {
    const page = await visit({ as: await createUser(site.test), javaScriptEnabled: false });
    await page.goto("/api-keys");
    await fill(page, { Name: "Nightly job" });
    await press(page, "Create key");
    const region = page.getByRole("region", { name: "Copy your new key now" });
    const key = (await region.locator("code").first().textContent()) as string;
    expect((await sendRequest(site.url, "GET", "/api/users/me", { key })).status).toBe(200);
    expect(await region.getByRole("button", { name: "Copy" }).first().isVisible()).toBe(false);
    await page.goto("/api-keys");
    expect(await page.content()).not.toContain(key);

    await page.getByText("Revoke…").click();
    await page.getByLabel("Type Nightly job to confirm").fill("another");
    await press(page, "Revoke key");
    await page.getByText("That doesn’t match the key’s name.").first().waitFor();
    await page.getByLabel("Type Nightly job to confirm").fill("Nightly job");
    await press(page, "Revoke key");
    await page.getByText("Key revoked.").waitFor();
    expect((await sendRequest(site.url, "GET", "/api/users/me", { key })).status).toBe(401);
  });

  it("says that a code of the authenticator app is wrong, and takes the next one", async () => {
    const someone = await createUser(site.test);
    const page = await visit({ as: someone, javaScriptEnabled: false });
    await page.goto("/settings/security");
    await fill(page, { "Current password": someone.password });
    await press(page, "Set up two-factor authentication");
    const secret = await page.locator("dd.select-all").textContent();
    await fill(page, { "Code from the app": "000000" });
    await press(page, "Turn on");
    await page.getByText("This code is incorrect.").first().waitFor();
    await fill(page, { "Code from the app": totp(`otpauth://totp/x?secret=${secret}`) });
    await press(page, "Turn on");
    await page.waitForURL("/settings/security?done=two-factor-on");
  });

  it("chooses a language and a theme", async () => {
    const page = await visit({ as: await createUser(site.test), javaScriptEnabled: false });
    await page.goto("/settings");
    await page.getByLabel("Language").selectOption("es");
    await press(page, "Save language");
    await page.getByRole("heading", { level: 1, name: "Ajustes" }).waitFor();
    expect(await page.locator("html").getAttribute("lang")).toBe("es");
    await page.getByLabel("Tema").selectOption("dark");
    await press(page, "Guardar preferencias");
    await page.locator('html[data-theme="dark"]').waitFor();
    expect(await page.getByLabel("Tema").inputValue()).toBe("dark");
  });

  it("sets a new password by a mailed link, which no referrer names", async () => {
    const { email } = await createUser(site.test);
    await sendRequest(site.url, "POST", "/api/auth/request-password-reset", { body: { email } });
    const folder = join(site.folder, "mail");
    let link = "";
    await eventually(async () => {
      const mails = await readdir(folder).catch(() => []);
      const texts = await Promise.all(mails.map((file) => readFile(join(folder, file), "utf8")));
      const text = texts.find((mail) => mail.includes(`To: ${email}`)) ?? "";
      link = /http:\S+\/reset-password\/\S+/.exec(text)?.[0] ?? "";
      return link !== "";
    }, true);
    const page = await visit({ javaScriptEnabled: false });
    const referrers: (string | null)[] = [];
    page.context().on("request", async (request) => {
      referrers.push(await request.headerValue("referer").catch(() => null));
    });
    await page.goto(link);
    expect(page.url()).toContain("/reset-password?token=");
    await fill(page, { "New password": "another long password" });
    await press(page, "Set password");
    await page.waitForURL("/sign-in?after=new-password");
    expect(referrers.length).toBeGreaterThan(3);
    expect(referrers.filter((referrer) => referrer?.includes("token="))).toEqual([]);
  });

  it("opens the menu on a phone", async () => {
    const page = await visit({
      as: await createUser(site.test),
      javaScriptEnabled: false,
      viewport: { width: 390, height: 844 },
    });
    await page.goto("/dashboard");
    await press(page, "Open menu");
    await page.locator("#sheet").getByRole("link", { name: "Settings" }).click();
    await page.waitForURL("/settings");
  });

  it("deletes the account", async () => {
    const someone = await createUser(site.test);
    const page = await visit({ as: someone, javaScriptEnabled: false });
    await page.goto("/settings");
    await page.getByLabel("Email address of this account").fill(someone.email);
    await press(page, "Delete account permanently");
    await page.getByRole("heading", { name: "Your account has been deleted" }).waitFor();
    expect(await site.test.rows(`select 1 from "user" where email = $1`, [someone.email])).toEqual([]);
  });
});
