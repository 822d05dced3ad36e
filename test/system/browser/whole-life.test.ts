import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { traitsOf, wireFormats } from "../../../src/providers/registry.ts";
import { missingBrowser, startBrowser } from "../../support/browser.ts";
import { builtPages } from "../../support/built-pages.ts";
import { freePort } from "../../support/free-port.ts";
import { createUser, type TestUser } from "../../support/people.ts";
import { type ProviderContext, startProviderContext } from "../server/provider-context.ts";

const missing = missingBrowser();
let browser: Browser;
beforeAll(async () => {
  if (missing) return;
  await builtPages();
  browser = await startBrowser();
}, 600_000);
afterAll(() => browser?.close());

/** Where people come back to has to be known before the server listens. */
async function freeUrl(): Promise<{ PORT: string; APP_URL: string }> {
  const port = await freePort();
  return { PORT: `${port}`, APP_URL: `http://127.0.0.1:${port}` };
}

describe.skipIf(missing)(`in a browser${missing ? ` (${missing})` : ""}`, () => {
  // The pages are the same for all of them: some are used with JavaScript, the others without.
  it.each(wireFormats().map((format, at) => [format, at % 2 === 0 ? "with" : "without"] as const))(
    "a user goes through a subscription's whole life in the format %s, %s JavaScript",
    async (format, scripts) => {
      const provider = await startProviderContext(format, { variables: await freeUrl() });
      const person = await createUser(provider.test);
      const context = await browser.newContext({
        javaScriptEnabled: scripts === "with",
        locale: "en-GB",
      });
      const page = await context.newPage();
      page.setDefaultTimeout(60_000);
      const problems: string[] = [];
      page.on("console", (message) => void (message.type() === "error" && problems.push(message.text())));
      page.on("pageerror", (error) => void problems.push(String(error)));
      await signIn(page, provider, person);

      await buy(page, provider, { plan: "Pro", seats: "2" });
      await sees(page, provider, person, "Active");
      await changeSeats(page, provider, person, {
        from: "2",
        to: "3",
        givesAmount: ["stripe", "paddle"].includes(format),
      });
      await inPortal(page, provider, async () => {
        await page.getByRole("spinbutton", { name: "Seats" }).fill("5");
        await page.getByRole("button", { name: "Change seats" }).click();
        await page.getByRole("status").getByText("The seats are changed.").waitFor();
        await page.getByRole("button", { name: "Switch to Team" }).click();
        await page.getByRole("status").getByText("The plan is changed.").waitFor();
        await page.getByRole("button", { name: "Fail the next renewal" }).click();
      });
      await aMonthLater(page, provider);
      await sees(page, provider, person, "Payment overdue");
      await isWarnedOnEveryPage(page, provider);
      expect(provider.atProvider(person)).toMatchObject([{ planId: "team", seats: 5, status: "past_due" }]);
      await inPortal(page, provider, async () => {
        await page.getByRole("button", { name: "Pay what is owed" }).click();
        await page.getByRole("status").getByText("What was owed is paid.").waitFor();
        await page.getByRole("button", { name: "Cancel at the end of the period" }).click();
        await page.getByText("Active, canceled").waitFor();
      });
      await sees(page, provider, person, /^Ends on .* and won’t renew/);
      expect(await page.getByRole("button", { name: "Change seats" }).count()).toBe(
        traitsOf(format).changesWhileEnding ? 1 : 0,
      );
      await aMonthLater(page, provider);
      await sees(page, provider, person, "Your last subscription has ended. You won’t be charged again.");
      await buy(page, provider, { plan: "Team", seats: "7" });
      await sees(page, provider, person, "Active");
      expect(
        provider
          .atProvider(person)
          .map(({ status }) => status)
          .sort(),
      ).toEqual(["active", "canceled"]);
      expect(problems).toEqual([]);
      await context.close();
    },
  );
});

async function signIn(page: Page, { server }: ProviderContext, { cookie }: TestUser): Promise<void> {
  const [name, value] = cookie.split(/=(.*)/s) as [string, string];
  await page.context().addCookies([{ name, value, url: server.url }]);
}

async function buy(
  page: Page,
  { server }: ProviderContext,
  { plan, seats }: { plan: string; seats: string },
): Promise<void> {
  await page.goto(`${server.url}/billing`);
  const offer = page
    .getByRole("listitem")
    .filter({ has: page.getByRole("heading", { name: plan, exact: true }) });
  await offer.getByLabel("Seats", { exact: true }).fill(seats);
  await offer.getByRole("button", { name: `Choose ${plan}` }).click();
  await page.getByRole("heading", { name: plan }).waitFor();
  await page.getByLabel("Email").fill("somebody@example.com");
  await page.getByRole("button", { name: /^Pay / }).click();
  await page.waitForURL(/\/billing\?checkout=completed/);
  // The provider's webhook arrives in the meantime.
  await page.getByText("Thank you. Your subscription is set up.").waitFor();
}

/** The preview says what the change is and costs; nothing changes before it is confirmed. */
async function changeSeats(
  page: Page,
  context: ProviderContext,
  person: TestUser,
  { from, to, givesAmount }: { from: string; to: string; givesAmount: boolean },
): Promise<void> {
  const plan = page
    .getByRole("listitem")
    .filter({ has: page.getByRole("heading", { name: "Pro", exact: true }) });
  await plan.getByRole("button", { name: "Change seats" }).click();
  await plan.getByText("nothing to change").waitFor();
  for (const isConfirmed of [false, true]) {
    await plan.getByLabel("Seats", { exact: true }).fill(to);
    await plan.getByRole("button", { name: "Change seats" }).click();
    await plan.getByRole("heading", { name: "Review your change" }).waitFor();
    const summary = await plan.locator("dl").textContent();
    expect(summary).toMatch(new RegExp(`PlanProSeats${to}Takes effectNow`));
    expect(summary).toMatch(givesAmount ? /Amount due€[\d.]+$/ : /doesn’t state it in advance/);
    expect(context.atProvider(person)).toMatchObject([{ seats: Number(from) }]);
    if (isConfirmed) await plan.getByRole("button", { name: "Confirm change" }).click();
    else await plan.getByRole("link", { name: "Back" }).click();
    if (!isConfirmed) await plan.getByRole("button", { name: "Change seats" }).waitFor();
  }
  await plan.getByText("Subscription changed.").waitFor();
  expect(context.atProvider(person)).toMatchObject([{ seats: Number(to) }]);
}

const PAGES = ["/dashboard", "/settings", "/notifications", "/api-keys", "/billing"];
const BANNER = {
  label: "Payment",
  text: /A payment for Team failed\. You keep access until \w+ \d+, \d{4}\./,
};

async function isWarnedOnEveryPage(page: Page, { server }: ProviderContext): Promise<void> {
  for (const path of PAGES) {
    await page.goto(`${server.url}${path}`);
    const banner = page.getByRole("complementary", { name: BANNER.label });
    expect(await banner.textContent(), path).toMatch(BANNER.text);
  }
}

/** On the billing page, once both sides agree. */
async function sees(
  page: Page,
  { server, waitUntilEqual }: ProviderContext,
  person: TestUser,
  text: string | RegExp,
): Promise<void> {
  await waitUntilEqual(person);
  await page.goto(`${server.url}/billing`);
  await page.getByText(text, { exact: true }).first().waitFor();
}

async function inPortal(
  page: Page,
  { server, sim }: ProviderContext,
  act: () => Promise<void>,
): Promise<void> {
  await page.getByRole("button", { name: "Open billing portal" }).first().click();
  await page.waitForURL((url) => url.origin === sim.url);
  await act();
  await page.getByRole("link", { name: "Go back" }).click();
  await page.waitForURL((url) => url.origin === server.url);
}

async function aMonthLater(page: Page, { sim }: ProviderContext): Promise<void> {
  // What is on its way arrives within the month.
  await sim.settle();
  await page.goto(sim.url);
  await page.getByRole("button", { name: "Forward a month" }).click();
  await page.waitForLoadState();
}
