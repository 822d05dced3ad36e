import type { Page } from "playwright-core";
import { it } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { createAdmin, createUser } from "../../support/people.ts";
import { createServiceKey } from "../../support/service-keys.ts";
import { describeInBrowser } from "./describe-in-browser.ts";
import { press } from "./page-actions.ts";
import { siteInBrowser } from "./site-in-browser.ts";
import { waitForHydration } from "./wait-for-hydration.ts";

describeInBrowser("a page that the browser has translated", () => {
  const { site, visit } = siteInBrowser();

  it("can send its forms", async () => {
    const page = await visit({ as: await createUser(site.test) });
    await page.goto("/settings");
    await waitForHydration(page.getByLabel("Name", { exact: true }));
    await translate(page);
    await press(page, "Save name");
    await page.getByText("Name saved.").waitFor();
    await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor();
  });

  it("can send a form by the button of a row", async () => {
    await createServiceKey(site.test);
    const page = await visit({ as: await createAdmin(site.test) });
    await page.goto("/admin/service-keys");
    await waitForHydration(page.getByLabel("Name", { exact: true }));
    await translate(page);
    await page.getByText("Rotate…", { exact: true }).click();
    await page.getByRole("button", { name: "Rotate key: shop" }).click();
    await page.getByText(/^tgs_/).first().waitFor();
    await page.getByRole("heading", { level: 1, name: "Service keys" }).waitFor();
  });

  it("shows a status that has changed", async () => {
    const [endpoint] = await site.test.rows<{ id: string }>(
      `insert into event_endpoint (url, types, description, secret)
       values ('https://events.example.com', '{user.updated}', '', 'whsec_AAAA') returning id`,
    );
    const page = await visit({ as: await createAdmin(site.test) });
    await page.goto(`/admin/event-endpoints/${endpoint?.id}`);
    await waitForHydration(page.getByRole("button", { name: "Pause" }));
    await translate(page);
    await press(page, "Pause");
    await page.getByRole("button", { name: "Resume", exact: true }).waitFor();
    await page.getByText("Paused", { exact: true }).waitFor();
  });

  it("says whether the log is live", async () => {
    const page = await visit({ as: await createAdmin(site.test) });
    await page.goto("/admin/webhooks");
    const live = await waitForHydration(page.getByRole("switch"));
    await translate(page);
    await live.click();
    await eventually(() => live.textContent(), "Refresh automatically Paused");
    await live.click();
    await eventually(() => live.textContent(), "Refresh automatically Live");
  });
});

/** As Chrome does it: each text is replaced by elements that hold the translation, and React's own text is in no document. */
async function translate(page: Page): Promise<void> {
  await page.evaluate(`(() => {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT, ({ data, parentElement }) =>
      data.trim() === "" || parentElement.closest("script, style, option") ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT);
    const found = [];
    while (texts.nextNode()) found.push(texts.currentNode);
    for (const text of found) {
      const translated = document.createElement("font");
      translated.append(text.data);
      text.replaceWith(translated);
    }
  })()`);
}
