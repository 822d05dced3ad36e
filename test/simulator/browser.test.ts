import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { missingBrowser, startBrowser } from "../support/browser.ts";
import { cleanedUp } from "../support/cleanup.ts";
import { control, order, simulator } from "./test-context.ts";

const missing = missingBrowser();
let browser: Browser;
beforeAll(async () => {
  if (!missing) browser = await startBrowser();
});
afterAll(() => browser?.close());

/** Somewhere else to come back to. */
async function shopPage(): Promise<string> {
  const server = createServer((_, response) => response.end("back in the shop"));
  await new Promise<void>((listens) => server.listen(0, "127.0.0.1", listens));
  cleanedUp(async () => server.closeAllConnections());
  cleanedUp(async () => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe.skipIf(missing)(`a browser without JavaScript${missing ? ` (${missing})` : ""}`, () => {
  it("pays, returns, manages the subscription and moves the clock", async () => {
    const shop = await shopPage();
    const sim = await simulator({ deliverTo: () => `${shop}/hook` });
    const context = await browser.newContext({ javaScriptEnabled: false, locale: "de-DE" });
    const page = await context.newPage();
    const problems: string[] = [];
    page.on("console", (message) => {
      // A declined card returns 422.
      if (!message.text().includes("422")) problems.push(message.text());
    });

    const { url } = await order(sim.url, "stripe", { successUrl: `${shop}/paid`, cancelUrl: `${shop}/left` });
    await page.goto(url);
    await page.getByRole("button", { name: "Decline the card" }).click();
    await page.getByRole("alert").getByText("The card was declined").waitFor();
    await page.getByRole("button", { name: "Cancel and go back" }).click();
    await page.waitForURL(`${shop}/left`);
    await page.goto(url);
    await page.getByLabel("Email").fill("somebody@example.com");
    const trial = page.getByLabel("Start with a 14-day free trial");
    const isDue = (sum: string) => page.locator(".sum").getByText(sum, { exact: true }).isVisible();
    await trial.check();
    expect([await isDue("20,00 EUR"), await isDue("0,00 EUR")]).toEqual([false, true]);
    expect(await page.getByRole("button", { name: /^Pay/ }).count()).toBe(0);
    await page.getByRole("button", { name: "Start the trial" }).waitFor();
    await page.getByRole("button", { name: "Decline the card" }).click();
    await page.getByRole("alert").waitFor();
    await trial.uncheck();
    expect([await isDue("20,00 EUR"), await isDue("0,00 EUR")]).toEqual([true, false]);
    expect(await page.getByRole("button", { name: "Start the trial" }).count()).toBe(0);
    await page.getByRole("button", { name: "Pay 20,00 EUR" }).click();
    await page.waitForURL(`${shop}/paid`);

    await page.goto(sim.url);
    await page.getByRole("link", { name: "Open portal" }).click();
    await page.getByLabel("Seats").fill("4");
    await page.getByRole("button", { name: "Change seats" }).click();
    await page.getByRole("status").getByText("The seats are changed.").waitFor();
    await page.getByRole("button", { name: "Cancel at the end of the period" }).click();
    await page.getByText("Active, canceled").waitFor();
    await page.getByRole("link", { name: "Go back" }).click();
    await page.getByRole("button", { name: "Forward a month" }).click();
    await page.getByText("Ended").waitFor();
    expect(sim.subscriptions("provider-a")).toMatchObject([{ seats: 4, status: "canceled" }]);

    await page.locator("#provider-b").getByText("Disturb the next deliveries").click();
    await page.locator("#provider-b").getByRole("form", { name: "Drop" }).getByLabel("Next").fill("2");
    await page.locator("#provider-b").getByRole("form", { name: "Drop" }).getByRole("button").click();
    await page.locator("#provider-b").getByText("On", { exact: true }).waitFor();
    expect((await control(sim.url, "/state")).slots["provider-b"].faults.drop).toEqual({ next: 2, share: 0 });
    expect(problems).toEqual([]);
    await context.close();
    await sim.close();
  });
});
