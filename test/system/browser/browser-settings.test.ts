import { expect, it } from "vitest";
import { describeInBrowser } from "./describe-in-browser.ts";
import { siteInBrowser } from "./site-in-browser.ts";
import { waitForHydration } from "./wait-for-hydration.ts";

describeInBrowser("a browser that stores no cookies", () => {
  const { visit } = siteInBrowser();
  const notice = "This site needs cookies to keep you signed in.";

  it.each(["/sign-in", "/sign-up"])("is told at %s that they are needed", async (path) => {
    const page = await visit();
    await page.goto(path);
    await waitForHydration(page.getByLabel("Password"));
    expect(await page.getByText(notice).count()).toBe(0);
    const developerTools = await page.context().newCDPSession(page);
    await developerTools.send("Emulation.setDocumentCookieDisabled", { disabled: true });
    await page.reload();
    await page.getByRole("alert").getByText(notice).waitFor();
  });
});
