import { expect, it } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { sendRequest } from "../../support/http.ts";
import { createUser } from "../../support/people.ts";
import { describeInBrowser } from "./describe-in-browser.ts";
import { fill, press } from "./page-actions.ts";
import { siteInBrowser } from "./site-in-browser.ts";
import { waitForHydration } from "./wait-for-hydration.ts";

describeInBrowser("over the limit of pages", () => {
  const { site, visit } = siteInBrowser({ RATE_LIMIT_PAGES: "5/3600" });

  it("keeps a form with what was typed, and says when to send it again", async () => {
    const page = await visit({
      as: await createUser(site.test),
      expected: /^refused: 429 \/settings$/,
    });
    await page.goto("/settings");
    await waitForHydration(page.getByRole("button", { name: "Save name" }));
    await eventually(async () => (await sendRequest(site.url, "GET", "/sign-in")).status, 429);
    await fill(page, { Name: "Typed already" });
    await press(page, "Save name");
    await page
      .getByRole("alert")
      .getByText(/^Too many requests\. Please wait a moment\. Try again in \d+ s\.$/)
      .waitFor();
    expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("Typed already");
  });
});
