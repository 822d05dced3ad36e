import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { control } from "../../simulator/test-context.ts";
import { eventually } from "../../support/eventually.ts";
import { sendRequest } from "../../support/http.ts";
import { createUser, type TestUser } from "../../support/people.ts";
import { createSubscription } from "../../support/subscriptions.ts";
import { describeInBrowser } from "./describe-in-browser.ts";
import { buy, fill, newPerson, PASSWORD, press, section, subscribe } from "./page-actions.ts";
import { siteInBrowser } from "./site-in-browser.ts";
import { waitForHydration } from "./wait-for-hydration.ts";

const LANGUAGES = [
  ["de", "Deutsch", "Einstellungen", "20\u00a0€"],
  ["es", "Español", "Ajustes", "20\u00a0€"],
  ["zh", "中文", "设置", "€20"],
  ["en", "English", "Settings", "€20"],
] as const;

describeInBrowser("a user in a browser", () => {
  const { site, visit } = siteInBrowser();

  it("signs up, completes onboarding, buys, sees the plan change after the webhook, and cancels", async () => {
    const { name, email } = newPerson();
    const page = await visit();
    await page.goto("/");
    await fill(page, { Name: name, "Email address": email, Password: PASSWORD });
    await press(page, "Create account");

    await page.getByRole("heading", { name: "What should we call you?" }).waitFor();
    await fill(page, { Name: "Somebody Else" });
    await press(page, "Save and continue");
    await page.getByRole("heading", { name: "Choose your preferences" }).waitFor();
    await press(page, "Save and continue");
    await page.getByRole("heading", { name: "What’s next?" }).waitFor();
    await page.getByRole("button", { name: /^Choose a plan/ }).click();
    await page.waitForURL("/billing");
    await section(page, "Current plan").getByText("No subscription").waitFor();

    const pro = page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: "Pro" }) });
    const more = await waitForHydration(pro.getByRole("button", { name: "Add a seat" }));
    await more.click();
    await more.click();
    await pro.getByText("€60 / month").waitFor();
    // The first webhook is dropped, so that the page has to wait.
    await control(site.providerUrl, "/provider-a/faults", { kind: "drop", next: 100 });
    onTestFinished(deliverAgain);
    await buy(page, "Pro");
    await page.getByText("Confirming your payment…").waitFor();
    expect(await page.getByRole("button", { name: /^Choose/ }).count()).toBe(0);
    await deliverAgain();
    await page.getByText("Thank you. Your subscription is set up.").waitFor();
    const plan = section(page, "Current plan");
    await plan.getByText("Active", { exact: true }).waitFor();
    await plan.getByText(/^Renews on .+ for €60\.$/).waitFor();
    await section(page, "History").getByText("Subscription started").waitFor();

    await plan.getByRole("button", { name: "Open billing portal" }).click();
    // The billing page has fields for seats too.
    await page.getByRole("button", { name: "Cancel at the end of the period" }).waitFor();
    await fill(page, { Seats: "5" });
    await press(page, "Change seats");
    await page.getByRole("status").getByText("The seats are changed.").waitFor();
    await press(page, "Cancel at the end of the period");
    await page.getByText("Active, canceled").waitFor();
    await eventually(
      async () => (await site.test.rows("select seats, cancel_at_period_end from subscription"))[0],
      {
        seats: 5,
        cancel_at_period_end: true,
      },
    );
    await page.getByRole("link", { name: "Go back" }).click();
    await page.waitForURL(/\/billing/);
    await plan.getByText(/^Ends on .+ and won’t renew\./).waitFor();
    await section(page, "History").getByText("Yes", { exact: true }).waitFor();

    await page.getByRole("link", { name: /^Notifications/ }).click();
    await page.getByText("Your Pro subscription is active.").waitFor();
    // The focus stays where the button was.
    await page.getByRole("button", { name: /^Mark as read: Your Pro/ }).press("Enter");
    await page.locator("li :focus", { hasText: "Marked as read." }).waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByText("You’ve been signed out.").waitFor();
    await page.goto("/dashboard");
    await page.waitForURL("/sign-in");
  });

  it("is redirected to sign-in and back, to pages of this site only", async () => {
    const { email, password } = await createUser(site.test);
    const page = await visit();
    const signIn = async () => {
      await fill(page, { "Email address": email, Password: password });
      await press(page, "Sign in");
    };
    await page.goto("/settings?tab=1");
    await page.getByText("Sign in to continue.").waitFor();
    await fill(page, { "Email address": email, Password: "not the password" });
    await press(page, "Sign in");
    await page.getByText("Incorrect email or password.").waitFor();
    await signIn();
    await page.waitForURL("/settings?tab=1");

    await page.context().clearCookies();
    await page.goto(`/sign-in?${new URLSearchParams({ next: "//elsewhere.example.com/settings" })}`);
    await signIn();
    await page.waitForURL("/onboarding");
  });

  it("changes the name on every page that shows it", async () => {
    const page = await visit({ as: await createUser(site.test) });
    await page.goto("/settings");
    await fill(page, { Name: "  " });
    await press(page, "Save name");
    await page.getByText("Enter 1 to 100 characters.").first().waitFor();
    await fill(page, { Name: "Ada <b>&amp;" });
    await press(page, "Save name");
    await page.getByText("Name saved.").waitFor();
    await page.getByRole("complementary").getByText("Ada <b>&amp;").waitFor();
    expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("Ada <b>&amp;");
    await page.reload();
    expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("Ada <b>&amp;");
  });

  it("keeps a box unticked when the form is refused", async () => {
    const { email } = await createUser(site.test);
    const page = await visit();
    await page.goto("/sign-in", { waitUntil: "networkidle" });
    await page.getByLabel("Stay signed in").uncheck();
    await fill(page, { "Email address": email, Password: "not the password" });
    await press(page, "Sign in");
    await page.locator("[data-outcome=unauthorized]").waitFor();
    expect(await page.getByLabel("Stay signed in").isChecked()).toBe(false);
    expect(await page.getByLabel("Email address").inputValue()).toBe(email);
  });

  it("resets a forgotten password by mail", async () => {
    const { email, password } = await createUser(site.test);
    const page = await visit();
    await page.goto("/sign-in");
    await page.getByRole("link", { name: "Forgot password?" }).click();
    await page.waitForURL("/forgotten-password");
    await fill(page, { "Email address": email });
    await press(page, "Send link");
    await page.getByText("we’ve sent it a link").waitFor();
    const mail = async () => {
      const names = await readdir(join(site.folder, "mail")).catch(() => []);
      const mails = await Promise.all(names.map((name) => readFile(join(site.folder, "mail", name), "utf8")));
      return mails.find((text) => text.includes(email)) ?? "";
    };
    await eventually(async () => (await mail()).includes("http"), true);
    const [link] = /http\S+/.exec((await mail()).replaceAll("=\r\n", "").replaceAll("=3D", "=")) ?? [];
    await page.goto(link as string);
    await fill(page, { "New password": "another long password" });
    await press(page, "Set password");
    await page.getByText("Password changed. Sign in with your new password.").waitFor();
    await fill(page, { "Email address": email, Password: password });
    await press(page, "Sign in");
    await page.getByText("Incorrect email or password.").waitFor();
    await fill(page, { Password: "another long password" });
    await press(page, "Sign in");
    await page.waitForURL("/onboarding");
  });

  it("says that a password is set where somebody else is signed in", async () => {
    const page = await visit({ as: await createUser(site.test) });
    await page.goto("/sign-in?after=new-password");
    await page.getByText("Password changed. Sign in with your new password.").waitFor();
    const { email, password } = await createUser(site.test);
    await fill(page, { "Email address": email, Password: password });
    await press(page, "Sign in");
    await page.waitForURL("/onboarding");
    await page.goto("/settings");
    await page.getByRole("definition").getByText(email).waitFor();
  });

  it("creates a key that is shown once and works, and revokes it", async () => {
    const page = await visit({ as: await createUser(site.test) });
    await page.goto("/api-keys");
    await page.getByText("No keys yet").waitFor();
    await fill(page, { Name: "Nightly job" });
    await press(page, "Create key");
    const region = page.getByRole("region", { name: "Copy your new key now" });
    const key = (await region.locator("code").first().textContent()) as string;
    expect(key).toMatch(/^tg_\w{40}$/);
    const curl = (await region.locator("code").nth(1).textContent()) as string;
    expect(curl).toBe(`curl -H 'Authorization: Bearer ${key}' ${site.url}/api/users/me`);
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await region.getByRole("button", { name: "Copy" }).first().click();
    await region.getByRole("button", { name: "Copied" }).waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(key);

    const use = async () => (await sendRequest(site.url, "GET", "/api/users/me", { key })).status;
    expect(await use()).toBe(200);
    await page.reload();
    await page.getByText(`${key.slice(0, 11)}`).waitFor();
    expect(await page.content()).not.toContain(key);
    await section(page, "Your keys")
      .getByText(/^(now|\d+ seconds? ago|in 0 seconds)$/)
      .first()
      .waitFor();

    await page.getByText("Revoke…").click();
    const name = page.getByLabel("Type Nightly job to confirm");
    await name.fill("another");
    await press(page, "Revoke key");
    await page.getByText("That doesn’t match the key’s name.").first().waitFor();
    expect(await use()).toBe(200);
    await name.fill("Nightly job");
    await press(page, "Revoke key");
    await page.getByText("Key revoked.").waitFor();
    await page.getByText("No keys yet").waitFor();
    expect(await use()).toBe(401);
  });

  it("uses the chosen language for texts, dates and prices", async () => {
    const someone = await createUser(site.test);
    await subscribe(site, someone);
    const page = await visit({ as: someone });
    for (const [locale, label, heading, total] of LANGUAGES) {
      await page.goto("/settings");
      const form = page.locator("form").filter({ has: page.locator("select[name=locale]") });
      await form.getByRole("combobox").selectOption({ label });
      await form.getByRole("button").click();
      await page.locator(`html[lang=${locale}]`).waitFor();
      await page.getByRole("heading", { level: 1, name: heading, exact: true }).waitFor();
      expect(await form.getByRole("combobox").inputValue()).toBe(locale);

      await page.goto("/billing");
      expect(await page.locator("html").getAttribute("lang")).toBe(locale);
      const dateFormat = new Intl.DateTimeFormat(locale, { day: "numeric", month: "long", timeZone: "UTC" });
      const plan = page.getByRole("main").locator("section").first();
      await plan.getByText(dateFormat.format(await renewal(someone))).waitFor();
      await plan.getByText(total).first().waitFor();
    }
  });

  async function deliverAgain(): Promise<void> {
    await control(site.providerUrl, "/provider-a/faults", { kind: "drop", next: 0 });
    await control(site.providerUrl, "/provider-a/redeliver", {});
  }

  async function renewal({ id }: TestUser): Promise<Date> {
    const [row] = await site.test.rows<{ at: string }>(
      "select current_period_end::text at from subscription where user_id = $1",
      [id],
    );
    return new Date(row?.at as string);
  }

  it("keeps what was typed in a form that gets no response", async () => {
    const page = await visit({
      as: await createUser(site.test),
      expected: /^failed: .*\/settings net::ERR_CONNECTION_REFUSED$/,
    });
    await page.goto("/settings");
    await page.route("**/settings", (route) => route.abort("connectionrefused"));
    await fill(page, { Name: "Typed Once" });
    await press(page, "Save name");
    await page.getByRole("alert").filter({ hasText: "couldn’t reach the server" }).waitFor();
    expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("Typed Once");
    await page.unroute("**/settings");
    await press(page, "Save name");
    await page.getByRole("complementary").getByText("Typed Once", { exact: true }).waitFor();
  });

  it("buys a yearly plan, and sees the price that is paid", async () => {
    const page = await visit({ as: await createUser(site.test) });
    await page.goto("/billing");
    await page.getByText("€20 per seat / month").waitFor();
    await page.getByRole("link", { name: "Yearly" }).click();
    await page.getByText("€200 per seat / year").waitFor();
    await buy(page, "Pro");
    const plan = section(page, "Current plan");
    await plan.getByText(/^Renews on .+ for €200\.$/).waitFor();
    await plan.getByText("€200 / year").waitFor();
    await section(page, "Plans").getByText("€200 per seat / year").waitFor();
  });

  it("awaits no payment at the address of a checkout whose subscription has ended", async () => {
    const someone = await createUser(site.test);
    await subscribe(site, someone);
    await site.test.rows(
      "update subscription set status = 'canceled', updated_at = clock_timestamp() where user_id = $1",
      [someone.id],
    );
    const page = await visit({ as: someone });
    await page.goto("/billing?checkout=completed");
    await page.getByText("Your last subscription has ended. You won’t be charged again.").waitFor();
    expect(await page.getByText("Confirming your payment…").count()).toBe(0);
    await page.getByRole("button", { name: "Choose Pro" }).waitFor();
  });

  it("awaits no subscription that a single payment has not bought", async () => {
    const someone = await createUser(site.test);
    await createSubscription(site.test, someone.id, { is_one_time: true, provider_subscription_id: null });
    const page = await visit({ as: someone });
    await page.goto("/billing?checkout=completed");
    await page.getByText("You bought this plan with a one-time payment. It doesn’t renew.").waitFor();
    expect(await page.getByText("Confirming your payment…").count()).toBe(0);
  });

  it("is told of a failed payment on the next page, and no longer once it is paid", async () => {
    const someone = await createUser(site.test);
    const id = await createSubscription(site.test, someone.id);
    const become = (status: string) =>
      site.test.rows("update subscription set status = $2 where id = $1", [id, status]);
    const page = await visit({ as: someone });
    await page.goto("/dashboard");
    const linkTo = (name: string) => page.getByRole("link", { name, exact: true });
    const banner = page.getByRole("complementary", { name: "Payment" });
    // A full load would show it in any case.
    await waitForHydration(linkTo("Billing"));
    await become("past_due");
    await linkTo("Billing").click();
    await banner.waitFor();
    await become("active");
    await linkTo("Dashboard").click();
    await banner.waitFor({ state: "detached" });
  });

  it("sees the new seats and their price at every plan after switching", async () => {
    const someone = await createUser(site.test);
    await subscribe(site, someone, 2);
    const page = await visit({ as: someone });
    await page.goto("/billing?checkout=completed");
    const thanks = page.getByText("Thank you. Your subscription is set up.");
    await thanks.waitFor();
    const offer = (plan: string) =>
      page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: plan, exact: true }) });
    const pro = offer("Pro");
    await pro.getByText("€40 / month").waitFor();
    await (await waitForHydration(offer("Team").getByLabel("Seats", { exact: true }))).fill("6");
    await press(page, "Switch to Team");
    await press(page, "Confirm change");
    await offer("Team").getByText("Subscription changed.").waitFor();
    await offer("Team").getByText("€90 / month").waitFor();
    await pro.getByText("€100 / month").waitFor();
    expect(await pro.getByLabel("Seats", { exact: true }).inputValue()).toBe("5");
    expect(await thanks.count()).toBe(0);

    // What one plan has said goes with the next change, at whichever plan.
    await press(page, "Switch to Pro");
    await pro.getByRole("heading", { name: "Review your change" }).waitFor();
    expect(await page.getByText("Subscription changed.").count()).toBe(0);
    await press(page, "Confirm change");
    await pro.getByText("Subscription changed.").waitFor();
    expect(await page.getByText("Subscription changed.").count()).toBe(1);
  });

  it.each([true, false])(
    "makes no change whose cost was shown before another tab changed the seats (JavaScript: %s)",
    async (javaScriptEnabled) => {
      const someone = await createUser(site.test);
      await subscribe(site, someone, 2);
      const page = await visit({ as: someone, javaScriptEnabled });
      const pro = page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: "Pro" }) });
      const review = async () => {
        await page.goto("/billing");
        const seats = pro.getByLabel("Seats", { exact: true });
        await (javaScriptEnabled ? await waitForHydration(seats) : seats).fill("5");
        await press(page, "Change seats");
        await pro.getByRole("heading", { name: "Review your change" }).waitFor();
      };
      const seats = async () =>
        (await site.test.rows("select id, seats from subscription where user_id = $1", [someone.id]))[0];
      await review();
      const { id } = (await seats()) as { id: string };
      const path = `/api/subscriptions/${id}/change`;
      await sendRequest(site.url, "POST", path, { cookie: someone.cookie, body: { seats: 4, when: "now" } });
      await press(page, "Confirm change");
      await pro.getByRole("alert").getByText("has changed since you saw this").waitFor();
      expect(await seats()).toMatchObject({ seats: 4 });
      await review();
      await press(page, "Confirm change");
      await pro.getByText("Subscription changed.").waitFor();
      expect(await seats()).toMatchObject({ seats: 5 });
    },
  );

  it.each([true, false])(
    "is told of the subscription that another tab has bought meanwhile (JavaScript: %s)",
    async (javaScriptEnabled) => {
      const someone = await createUser(site.test);
      const page = await visit({ as: someone, javaScriptEnabled });
      await page.goto("/billing");
      const choose = page.getByRole("button", { name: "Choose Team" });
      await (javaScriptEnabled ? waitForHydration(choose) : choose.waitFor());
      await subscribe(site, someone, 2);
      await press(page, "Choose Team");
      await page.getByRole("alert").getByText("You already have this plan, or a subscription.").waitFor();
      await section(page, "Current plan").getByText("Pro", { exact: true }).waitFor();
      expect(await choose.count()).toBe(0);
    },
  );

  it.each([
    { status: "canceled", sentence: "Choose a plan first.", javaScriptEnabled: true },
    { status: "canceled", sentence: "Choose a plan first.", javaScriptEnabled: false },
    { status: "unpaid", sentence: "Continue it in the billing portal first.", javaScriptEnabled: true },
    { status: "unpaid", sentence: "Continue it in the billing portal first.", javaScriptEnabled: false },
  ])(
    "is told why nothing is changed once the subscription is $status (JavaScript: $javaScriptEnabled)",
    async ({ status, sentence, javaScriptEnabled }) => {
      const someone = await createUser(site.test);
      await subscribe(site, someone, 2);
      const page = await visit({ as: someone, javaScriptEnabled });
      await page.goto("/billing");
      const change = page.getByRole("button", { name: "Change seats" });
      await (javaScriptEnabled ? waitForHydration(change) : change.waitFor());
      await site.test.rows("update subscription set status = $2 where user_id = $1", [someone.id, status]);
      await press(page, "Change seats");
      await page.getByRole("alert").getByText(sentence).waitFor();
      expect(await change.count()).toBe(0);
    },
  );

  it.each([true, false])(
    "sees what changes at the end of the period, and keeps the plan (JavaScript: %s)",
    async (javaScriptEnabled) => {
      const someone = await createUser(site.test);
      await subscribe(site, someone, 2);
      const page = await visit({ as: someone, javaScriptEnabled });
      await page.goto("/billing");
      const team = page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: "Team" }) });
      await team.getByLabel("When").selectOption("period_end");
      await team.getByLabel("Seats", { exact: true }).fill("6");
      await press(page, "Switch to Team");
      await press(page, "Confirm change");
      await page.getByText(/^The change takes effect on /).waitFor();

      const day = (locale: string) => new Intl.DateTimeFormat(locale, { dateStyle: "long", timeZone: "UTC" });
      const at = await renewal(someone);
      for (const [locale, text] of [
        ["de", `Wechselt am ${day("de").format(at)} zu Team mit 6 Plätzen.`],
        ["es", `Cambia a Team con 6 plazas el ${day("es").format(at)}.`],
        ["zh", `将于 ${day("zh").format(at)}变更为 Team，共 6 个席位。`],
        ["en", `Changes to Team with 6 seats on ${day("en").format(at)}.`],
      ] as const) {
        await site.test.rows(`update "user" set locale = $2 where id = $1`, [someone.id, locale]);
        await page.goto("/billing");
        await page.getByText(text).waitFor();
      }
      const plan = section(page, "Current plan");
      // The price is another one then.
      await plan.getByText(/^Renews on [^€]+\.$/).waitFor();
      await press(page, "Keep current plan");
      await page.getByRole("status").getByText("Your plan won’t change.").waitFor();
      expect(await page.getByText(/^The change takes effect on /).count()).toBe(0);
      await plan.getByText(/^Renews on .+ for €40\.$/).waitFor();
      expect(await plan.getByText(/^Changes to/).count()).toBe(0);
      expect(await site.test.rows("select from scheduled_change")).toEqual([]);
    },
  );

  it.each([true, false])(
    "sees what a year costs, and pays by the year from then on (JavaScript: %s)",
    async (javaScriptEnabled) => {
      const someone = await createUser(site.test);
      await subscribe(site, someone, 2);
      const page = await visit({ as: someone, javaScriptEnabled });
      await page.goto("/billing");
      await page
        .getByRole("navigation", { name: "Billing period" })
        .getByRole("link", { name: "Yearly" })
        .click();
      const pro = page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: "Pro" }) });
      await pro.getByText("€200 per seat / year").waitFor();
      await pro.getByLabel("When").selectOption("period_end");
      await press(page, "Switch to yearly billing");
      await pro.getByRole("term").filter({ hasText: "Billing period" }).waitFor();
      await page.getByRole("link", { name: "Back", exact: true }).click();
      await pro.getByLabel("When").selectOption("period_end");
      await press(page, "Switch to yearly billing");
      await press(page, "Confirm change");
      const plan = section(page, "Current plan");
      await plan.getByText(/^Changes to Pro with 2 seats, billed yearly, on .+\.$/).waitFor();

      await page.goto("/billing?interval=year&currency=EUR");
      await press(page, "Switch to yearly billing");
      await press(page, "Confirm change");
      await plan.getByText("€200 / year").waitFor();
      await plan.getByText(/^Renews on .+ for €400\.$/).waitFor();
      expect(await plan.getByText(/^Changes to/).count()).toBe(0);
      await page.goto("/billing");
      await pro.getByRole("button", { name: "Change seats" }).waitFor();
      await page.getByRole("link", { name: "Yearly" }).and(page.locator("[aria-current=page]")).waitFor();
    },
  );

  it("deletes the account, which cancels its subscription and frees the email address", async () => {
    const someone = await createUser(site.test);
    const page = await visit({ as: someone });
    await page.goto("/billing");
    await buy(page, "Pro");
    await section(page, "Current plan").getByText("Active", { exact: true }).waitFor();
    const [bought] = await site.test.rows<{ id: string }>(
      "select provider_subscription_id id from subscription where user_id = $1",
      [someone.id],
    );
    const currentStatus = async () => {
      const { slots } = await control(site.providerUrl, "/state");
      return slots["provider-a"].subscriptions.find(({ id }: { id: string }) => id === bought?.id).status;
    };
    expect(await currentStatus()).toBe("active");

    await page.goto("/settings");
    const confirmation = page.getByLabel("Email address of this account");
    await confirmation.fill("somebody.else@example.com");
    await press(page, "Delete account permanently");
    await page.getByText("This is not the email address of the account.").first().waitFor();
    await confirmation.fill(someone.email);
    await press(page, "Delete account permanently");
    await page.getByRole("heading", { name: "Your account has been deleted" }).waitFor();
    expect(await currentStatus()).toBe("canceled");
    await page.goto("/settings");
    await page.waitForURL(/\/sign-in/);
    await fill(page, { "Email address": someone.email, Password: someone.password });
    await press(page, "Sign in");
    await page.getByText("Incorrect email or password.").waitFor();
    await page.getByRole("link", { name: "Sign up" }).last().click();
    await page.getByRole("heading", { name: "Create an account" }).waitFor();
    await fill(page, { Name: "Somebody New", "Email address": someone.email, Password: PASSWORD });
    await press(page, "Create account");
    // On to the page that was requested first.
    await page.waitForURL("/settings");
  });
});
