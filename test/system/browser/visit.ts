import { mkdir } from "node:fs/promises";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import { control } from "../../simulator/test-context.ts";
import type { TestUser } from "../../support/people.ts";
import type { Site } from "./site.ts";

type ContextOptions = BrowserContextOptions & {
  /** The signed-in user; nobody by default. */
  as?: Pick<TestUser, "cookie">;
};

/** `expected`: failures to expect, "refused: <status> <path>" or "console: <text>". */
export type VisitOptions = ContextOptions & { expected?: RegExp };

/** A browser context with one page, and what a developer would see as an error in it since this was emptied. */
export type Visitor = { page: Page; complaints: string[] };

/** A browser context for one test, which fails on anything in it that a developer would see as an error. */
export async function visit(
  browser: Browser,
  site: Site,
  { expected, ...options }: VisitOptions = {},
): Promise<Page> {
  const visitor = await openVisitor(browser, site, options);
  failOnComplaints(visitor, site, { expected, finished: () => visitor.page.context().close() });
  return visitor.page;
}

/** For several tests in turn, each of which calls `failOnComplaints`: the browser keeps what it has loaded. */
export async function openVisitor(
  browser: Browser,
  site: Site,
  { as: someone, ...options }: ContextOptions = {},
): Promise<Visitor> {
  const context = await browser.newContext({ baseURL: site.url, locale: "en-GB", ...options });
  if (someone) await context.addCookies(cookiesOf(someone.cookie, site.url));
  const complaints = watch(context, site, options.javaScriptEnabled === false);
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  return { page, complaints };
}

/** Fails the running test at its end if there was an error that is not `expected`. */
export function failOnComplaints(
  { page, complaints }: Visitor,
  site: Site,
  { expected, finished }: { expected?: RegExp | undefined; finished?: () => Promise<void> } = {},
): void {
  onTestFinished(async ({ task }) => {
    if (task.result?.state === "fail") {
      await picture(page, task.name);
      console.log(await deliveriesOf(site));
    }
    await finished?.();
    const all = [...complaints.splice(0), ...site.complaints.splice(0)];
    expect(all.filter((complaint) => !expected?.test(complaint))).toEqual([]);
  });
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
