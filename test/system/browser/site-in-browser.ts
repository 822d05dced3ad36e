import type { Browser } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import { startBrowser } from "../../support/browser.ts";
import { openSite, type Site } from "./site.ts";
import { type VisitOptions, visit } from "./visit.ts";

/** A site and a browser for the tests of one `describe`. Ready in the hooks and tests that follow, not before. */
export function siteInBrowser(variables: Record<string, string> = {}) {
  const site = {} as Site;
  let browser: Browser;
  beforeAll(async () => {
    Object.assign(site, await openSite(variables));
    browser = await startBrowser();
  }, 180_000);
  afterAll(async () => {
    await browser?.close();
    await site.close?.();
  });
  return { site, visit: (options?: VisitOptions) => visit(browser, site, options) };
}
