import { it } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { createUser } from "../../support/people.ts";
import { describeInBrowser } from "./describe-in-browser.ts";
import { press } from "./page-actions.ts";
import { siteInBrowser } from "./site-in-browser.ts";
import { waitForHydration } from "./wait-for-hydration.ts";

describeInBrowser("the outcome of a form", () => {
  const { site, visit } = siteInBrowser();

  it("is announced anew when it is the same as before", async () => {
    const page = await visit({ as: await createUser(site.test) });
    await page.goto("/settings");
    const name = await waitForHydration(page.getByLabel("Name", { exact: true }));
    for (const [entered, text] of [
      [" ", "Enter 1 to 100 characters."],
      ["Ada", "Name saved."],
    ] as const) {
      await name.fill(entered);
      await press(page, "Save name");
      const said = page
        .locator("[role=alert], [role=status]")
        .getByText(text)
        .locator("xpath=ancestor-or-self::p");
      const first = await said.elementHandle();
      await name.fill(entered);
      await press(page, "Save name");
      // Screen readers are silent about what stays in the document.
      await eventually(() => first?.evaluate((element) => element.isConnected), false);
      await said.waitFor();
    }
  });
});
