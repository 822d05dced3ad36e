import { expect, it } from "vitest";
import { numberedEvent } from "../../fixtures/numbered-event.ts";
import { deliverWebhook } from "../../support/http.ts";
import { createAdmin, createUser } from "../../support/people.ts";
import { describeInBrowser } from "./describe-in-browser.ts";
import { siteInBrowser } from "./site-in-browser.ts";

const PHONE = { width: 390, height: 844 };
const TABLETS = [
  { width: 768, height: 1024 },
  { width: 1024, height: 768 },
];

describeInBrowser("a narrow window", () => {
  const { site, visit } = siteInBrowser();

  it("keeps a plan's seats within its card with letters twice as large", async () => {
    const page = await visit({ as: await createUser(site.test), viewport: PHONE, bypassCSP: true });
    await page.goto("/billing");
    const buttons = page.getByRole("button", { name: "Add a seat" });
    await buttons.first().waitFor();
    await page.evaluate("document.documentElement.style.fontSize = '200%'");
    expect(await buttons.evaluateAll(OUTSIDE_THEIR_CARD)).toEqual([]);
  });

  it("shows the names of events and actions in full on a tablet", async () => {
    const { id } = await createUser(site.test);
    await deliverWebhook(site.url, "provider-a", numberedEvent("seeded-".repeat(6), 0, 1, "stripe", id));
    await site.test.rows(
      `insert into webhook_delivery (provider, event_id, event_type, format, status, claim_source) values
       ('provider-c', 'evt_lemon', 'subscription_payment_recovered', 'lemon-squeezy', 'successful', 'delivery')`,
    );
    await site.test.rows("update webhook_delivery set received_at = now() - interval '50 minutes'");
    await site.test.rows(
      `insert into audit_entry (at, actor_kind, actor_id, address, action, target_type, target_id) values
       (now() - interval '50 minutes', 'session', repeat('u', 32), '2001:db8::1', 'event_endpoint.changed', 'event_endpoint', repeat('e', 36))`,
    );
    const page = await visit({ as: await createAdmin(site.test), bypassCSP: true });
    for (const path of ["/admin/webhooks", "/admin/audit"]) {
      await page.goto(path);
      await page.locator("tbody th > :first-child").first().waitFor();
      await page.evaluate("document.fonts.ready.then(() => null)");
      for (const viewport of TABLETS) {
        await page.setViewportSize(viewport);
        expect.soft(await page.evaluate(BROKEN_NAMES), `${path} ${viewport.width}`).toEqual([]);
      }
    }
  });
});

const OUTSIDE_THEIR_CARD = (buttons: Element[]) =>
  buttons.flatMap((button) => {
    const [inner, outer] = [button, button.closest("li")].map(
      (box) => box?.getBoundingClientRect().right ?? 0,
    );
    return Number(inner) > Number(outer) ? [inner] : [];
  });

/** What is cut off at the beginning of rows, and the names there that are broken within a word. */
const BROKEN_NAMES = `[...document.querySelectorAll("tbody th > *")].flatMap((text) => {
    const broken = text.scrollWidth > text.clientWidth ? [text.textContent] : [];
    const parts = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
    while (text.matches(":first-child") && parts.nextNode()) {
      const word = document.createRange();
      word.selectNodeContents(parts.currentNode);
      if (word.getClientRects().length > 1) broken.push(parts.currentNode.data);
    }
    return broken;
  })`;
