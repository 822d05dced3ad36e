import { mkdir } from "node:fs/promises";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startBrowser } from "../../support/browser.ts";
import { freshServer } from "../../support/fresh-server.ts";
import { describeInBrowser } from "./describe-in-browser.ts";

describeInBrowser("the reader of the API's document", () => {
  const { server } = freshServer();
  let browser: Browser;

  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
  });

  it.each(["/api/docs", "/api/v2/docs"])(
    "shows every route of %s, and loads nothing from other hosts",
    async (path) => {
      const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
      const complaints: string[] = [];
      const elsewhere: string[] = [];
      page.on("console", (message) => {
        if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
      });
      page.on("pageerror", (error) => complaints.push(error.message));
      page.on("request", (request) => {
        if (!request.url().startsWith(`${server.url}/`) && !request.url().startsWith("data:"))
          elsewhere.push(request.url());
      });
      await page.goto(`${server.url}${path}`);
      await page.waitForSelector(".opblock");

      const document = await (await fetch(`${server.url}${path.replace("docs", "openapi.json")}`)).json();
      const described: Record<string, object> = { ...document.paths, ...document.webhooks };
      const operations = Object.values(described).flatMap((methods) => Object.keys(methods));
      expect(await page.locator(".opblock").count()).toBe(operations.length);
      expect(operations.length).toBeGreaterThan(20);
      expect(elsewhere).toEqual([]);
      expect(complaints).toEqual([]);
      await mkdir("test-results", { recursive: true });
      await page.screenshot({ path: `test-results/reader-${path.includes("v2") ? "v2" : "v1"}.png` });
      await page.close();
    },
  );
});
