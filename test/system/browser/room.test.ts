import { expect, it } from "vitest";
import { createUser } from "../../support/people.ts";
import { describeInBrowser } from "./describe-in-browser.ts";
import { siteInBrowser } from "./site-in-browser.ts";

const PHONE = { width: 390, height: 844 };

describeInBrowser("a window that is not wide", () => {
  const { site, visit } = siteInBrowser();

  it("keeps a plan's seats within its card with letters twice as large", async () => {
    const page = await visit({ as: await createUser(site.test), viewport: PHONE, bypassCSP: true });
    await page.goto("/billing");
    const buttons = page.getByRole("button", { name: "Add a seat" });
    await buttons.first().waitFor();
    await page.evaluate("document.documentElement.style.fontSize = '200%'");
    expect(await buttons.evaluateAll(BESIDE_THEIR_CARD)).toEqual([]);
  });
});

const BESIDE_THEIR_CARD = (buttons: Element[]) =>
  buttons.flatMap((button) => {
    const [inner, outer] = [button, button.closest("li")].map(
      (box) => box?.getBoundingClientRect().right ?? 0,
    );
    return Number(inner) > Number(outer) ? [inner] : [];
  });
