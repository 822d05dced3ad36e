import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { createAdmin, createUser } from "../../support/people.ts";
import { totp } from "../../support/totp.ts";
import { describeInBrowser } from "./describe-in-browser.ts";
import { fill, press } from "./page-actions.ts";
import { siteInBrowser } from "./site-in-browser.ts";
import { waitForHydration } from "./wait-for-hydration.ts";

const PHONE = { viewport: { width: 390, height: 500 } };

describeInBrowser("the keyboard's focus", () => {
  const { site, visit } = siteInBrowser();

  it.each([true, false])(
    "moves to a field that was refused, which lies far above its button (JavaScript: %s)",
    async (javaScriptEnabled) => {
      const page = await visit({ ...PHONE, as: await createAdmin(site.test), javaScriptEnabled });
      await page.goto("/admin/event-endpoints");
      const url = page.getByLabel("URL");
      if (javaScriptEnabled) await waitForHydration(url);
      await url.fill("http://localhost/hook");
      await page.getByLabel("user.deleted").check();
      await press(page, "Add endpoint");
      await url.and(page.locator("[aria-invalid]:focus")).waitFor();
      expect(await isInView(page, "Enter a public https address.")).toBe(true);
    },
  );

  it.each([true, false])(
    "moves to the boxes of which none was ticked (JavaScript: %s)",
    async (javaScriptEnabled) => {
      const page = await visit({ ...PHONE, as: await createAdmin(site.test), javaScriptEnabled });
      await page.goto("/admin/event-endpoints");
      const url = page.getByLabel("URL");
      if (javaScriptEnabled) await waitForHydration(url);
      await url.fill("https://example.com/hook");
      await press(page, "Add endpoint");
      await page.getByRole("group", { name: "Event types" }).and(page.locator(":focus")).waitFor();
      expect(await isInView(page, "Choose at least one.")).toBe(true);
    },
  );

  it("stays where somebody types, and the field that was refused is brought into view", async () => {
    const page = await visit({ ...PHONE, as: await createAdmin(site.test) });
    await page.goto("/admin/event-endpoints");
    const url = await waitForHydration(page.getByLabel("URL"));
    await url.fill("http://localhost/hook");
    await page.getByLabel("user.deleted").check();
    const description = page.getByLabel("Description");
    await description.press("Enter");
    await page.locator("[aria-invalid]").waitFor();
    await description.and(page.locator(":focus")).waitFor();
    await expect.poll(() => isInView(page, "Enter a public https address."), { timeout: 100_000 }).toBe(true);
  });

  it("moves to new backup codes", async () => {
    const someone = await createUser(site.test);
    const page = await visit({ as: someone });
    await page.goto("/settings/security");
    const password = page.getByLabel("Current password");
    await (await waitForHydration(password)).fill(someone.password);
    await press(page, "Set up two-factor authentication");
    const secret = await page.locator("dd.select-all").textContent();
    await fill(page, { "Code from the app": totp(`otpauth://totp/x?secret=${secret}`) });
    await press(page, "Turn on");
    await page.getByText("Two-factor authentication is on.").waitFor();
    await page.getByText("Create new backup codes…").click();
    await password.first().fill(someone.password);
    await press(page, "Create codes");
    const codes = page.getByRole("region", { name: /^Save these backup codes/ });
    await codes.and(page.locator(":focus")).waitFor();
  });
});

async function isInView(page: Page, text: string): Promise<boolean> {
  const { y = -1, height = 0 } = (await page.getByText(text).first().boundingBox()) ?? {};
  return y >= 0 && y + height <= PHONE.viewport.height;
}
