import type { Page } from "playwright-core";
import { it } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { createUser } from "../../support/people.ts";
import { describeInBrowser } from "./describe-in-browser.ts";
import { press, subscribe } from "./page-actions.ts";
import { siteInBrowser } from "./site-in-browser.ts";
import { waitForHydration } from "./wait-for-hydration.ts";

describeInBrowser("the outcome of a form that is the same as before", () => {
  const { site, visit } = siteInBrowser();

  it.each([
    ["a refusal", " ", "Enter 1 to 100 characters."],
    ["a success", "Ada", "Name saved."],
  ])("is announced anew: %s", async (_, entered, text) => {
    const page = await visit({ as: await createUser(site.test) });
    await page.goto("/settings");
    const name = await waitForHydration(page.getByLabel("Name", { exact: true }));
    await expectAnnouncedTwice(page, text, async () => {
      await name.fill(entered);
      await press(page, "Save name");
    });
  });

  it("is announced anew: that a subscription has nothing to change", async () => {
    const someone = await createUser(site.test);
    await subscribe(site, someone, 2);
    const page = await visit({ as: someone });
    await page.goto("/billing");
    await waitForHydration(page.getByRole("button", { name: "Change seats" }));
    const text = "This is your plan and number of seats already: nothing to change.";
    await expectAnnouncedTwice(page, text, () => press(page, "Change seats"));
  });
});

/** In a new element: screen readers are silent about what stays in the document. */
async function expectAnnouncedTwice(page: Page, text: string, send: () => Promise<void>): Promise<void> {
  await send();
  const said = page
    .locator("[role=alert], [role=status]")
    .getByText(text)
    .or(page.locator("p[role=status]").filter({ hasText: text }))
    .locator("xpath=ancestor-or-self::p")
    .first();
  const first = await said.elementHandle();
  await send();
  await eventually(() => first?.evaluate((element) => element.isConnected), false);
  await said.waitFor();
}
