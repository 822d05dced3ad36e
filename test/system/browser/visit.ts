import { mkdir } from "node:fs/promises";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import { control } from "../../simulator/test-context.ts";
import type { TestUser } from "../../support/people.ts";
import type { Site } from "./site.ts";

type VisitOptions = BrowserContextOptions & {
  /** The signed-in user; nobody by default. */
  as?: Pick<TestUser, "cookie">;
  /** Failures to expect in this visit: "refused: <status> <path>", "console: <text>". */
  expected?: RegExp;
};

/** A browser context. The test fails on anything in it that a developer would see as an error. */
export async function visit(browser: Browser, site: Site, options: VisitOptions = {}): Promise<Page> {
  const { as: someone, expected, ...rest } = options;
  const context = await browser.newContext({ baseURL: site.url, locale: "en-GB", ...rest });
  if (someone) await context.addCookies(cookiesOf(someone.cookie, site.url));
  const complaints = watch(context, site, rest.javaScriptEnabled === false);
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  onTestFinished(async ({ task }) => {
    if (task.result?.state === "fail") {
      await picture(page, task.name);
      console.log(await deliveriesOf(site));
    }
    await context.close();
    const all = [...complaints, ...site.complaints.splice(0)];
    expect(all.filter((complaint) => !expected?.test(complaint))).toEqual([]);
  });
  return page;
}

/** What the provider sent last, with each try's response, and what the server made of it. */
async function deliveriesOf({ providerUrl, test }: Site): Promise<string> {
  const { slots } = await control(providerUrl, "/state");
  const sent = Object.values<{ deliveries: unknown[] }>(slots).map(({ deliveries }) => deliveries.slice(-4));
  const received = await test.rows(
    "select provider, event_id, event_type, status, claim_no, last_error, received_at from webhook_delivery order by id desc limit 8",
  );
  return JSON.stringify({ sent, received }, null, 1);
}

/** The state of the page when the test failed. */
async function picture(page: Page, test: string): Promise<void> {
  await mkdir("test-results/failed", { recursive: true });
  const path = `test-results/failed/${test.replaceAll(/\W+/g, "-").slice(0, 80)}.png`;
  await page.screenshot({ path, fullPage: true, timeout: 5_000 }).catch(() => {});
}

function watch(context: BrowserContext, site: Site, isScriptless: boolean): string[] {
  const complaints: string[] = [];
  context.on("console", (message) => {
    const text = message.text();
    // Failed loads are reported below, with their status.
    if (text.startsWith("Failed to load resource")) return;
    if (message.type() === "error" || message.type() === "warning") complaints.push(`console: ${text}`);
  });
  context.on("weberror", (error) => complaints.push(`page: ${error.error().message}`));
  context.on("request", (request) => {
    const { origin, protocol } = new URL(request.url());
    const isOurs = origin === site.url || origin === site.providerUrl;
    if (!isOurs && protocol !== "data:") complaints.push(`foreign: ${request.url()}`);
  });
  context.on("requestfailed", (request) => {
    // Leaving a page aborts its pending loads.
    const reason = request.failure()?.errorText ?? "";
    const isUnwanted = isScriptless && request.resourceType() === "script";
    if (reason !== "net::ERR_ABORTED" && !isUnwanted) complaints.push(`failed: ${request.url()} ${reason}`);
  });
  context.on("response", (response) => {
    const status = response.status();
    if (status >= 400) complaints.push(`refused: ${status} ${new URL(response.url()).pathname}`);
  });
  return complaints;
}

function cookiesOf(header: string, url: string) {
  return header.split("; ").map((pair) => {
    const at = pair.indexOf("=");
    return { name: pair.slice(0, at), value: pair.slice(at + 1), url };
  });
}
