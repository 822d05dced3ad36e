import { expect, it } from "vitest";
import { createAdmin } from "../../support/people.ts";
import { describeInBrowser } from "./describe-in-browser.ts";
import { siteInBrowser } from "./site-in-browser.ts";
import { waitForHydration } from "./wait-for-hydration.ts";

describeInBrowser("the filters of a list", () => {
  const { site, visit } = siteInBrowser();

  it("apply what was entered before the page's scripts had loaded", async () => {
    const page = await visit({ as: await createAdmin(site.test) });
    const scripts = Promise.withResolvers<void>();
    await page.route("**/*.js", async (route) => {
      await scripts.promise;
      await route.continue();
    });
    await page.goto("/admin/webhooks", { waitUntil: "commit" });
    await page.getByLabel("Status").selectOption("failed");
    await page.getByLabel("Event type").fill("invoice.paid");
    await page.getByLabel("Event ID").focus();
    scripts.resolve();
    await page.waitForURL("/admin/webhooks?status=failed&type=invoice.paid");
    expect(await page.getByLabel("Event type").inputValue()).toBe("invoice.paid");
  });

  it("take a day whose year is typed digit by digit", async () => {
    const page = await visit({ as: await createAdmin(site.test) });
    await page.goto("/admin/audit?to=2031-01-01");
    const from = await waitForHydration(page.getByLabel("From (UTC)"));
    for (const year of ["0002", "0020", "0202"]) {
      const shown = page.waitForResponse((response) => new URL(response.url()).pathname === "/admin/audit");
      // What the browser reports after each digit.
      await from.fill(`${year}-11-30`);
      expect((await shown).status()).toBe(200);
      expect(await from.inputValue()).toBe(`${year}-11-30`);
    }
    await from.fill("2026-11-30");
    await page.waitForURL("/admin/audit?from=2026-11-30&to=2031-01-01");
  });
});
