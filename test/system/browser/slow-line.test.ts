import { setTimeout as sleep } from "node:timers/promises";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { createAdmin, createUser } from "../../support/people.ts";
import { createSubscription } from "../../support/subscriptions.ts";
import { describeInBrowser } from "./describe-in-browser.ts";
import { siteInBrowser } from "./site-in-browser.ts";
import { waitForHydration } from "./wait-for-hydration.ts";

describeInBrowser("a page that refreshes itself, on a line slower than its refreshes", () => {
  const { site, visit } = siteInBrowser();

  it("shows the subscription with the first answer that has it", async () => {
    const someone = await createUser(site.test);
    const page = await visit({ as: someone });
    await page.goto("/billing?checkout=completed");
    await page.getByText("Confirming your payment…").waitFor();
    const answers = await slowDown(page, "/billing");
    await createSubscription(site.test, someone.id, { current_period_end: "2099-01-01T00:00:00Z" });
    await page.getByText("Thank you. Your subscription is set up.").waitFor();
    expect(answers.most).toBe(1);
  });

  it("waits for an answer before it asks again", async () => {
    const page = await visit({ as: await createAdmin(site.test) });
    await page.goto("/admin/webhooks");
    await waitForHydration(page.getByRole("switch"));
    const answers = await slowDown(page, "/admin/webhooks");
    await expect.poll(() => answers.requested, { timeout: 100_000 }).toBeGreaterThan(2);
    expect(answers.most).toBe(1);
  });

  it("does not ask again for a page that has been chosen meanwhile", async () => {
    const page = await visit({ as: await createAdmin(site.test) });
    await page.goto("/admin/webhooks");
    await waitForHydration(page.getByRole("switch"));
    const answers = await slowDown(page, "/admin/users");
    await page.getByRole("link", { name: "Users", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "Users" }).waitFor();
    expect(answers.requested).toBe(1);
  });

  it("does not say that it is live while it gets no answer", async () => {
    const page = await visit({ as: await createAdmin(site.test) });
    await page.goto("/admin/webhooks");
    const live = await waitForHydration(page.getByRole("switch"));
    const refreshes = await leaveUnanswered(page, "/admin/webhooks");
    await expect.poll(() => refreshes.requested, { timeout: 100_000 }).toBe(1);
    await leaveUnanswered(page, "/api/ready");
    await expect.poll(() => live.textContent(), { timeout: 100_000 }).not.toContain("Live");
  });

  it("says that a payment takes long to be confirmed while it gets no answer", async () => {
    const page = await visit({ as: await createUser(site.test) });
    await page.clock.install();
    await page.goto("/billing?checkout=completed");
    await page.getByText("Confirming your payment…").waitFor();
    const refreshes = await leaveUnanswered(page, "/billing");
    const late = page.getByText("This is taking longer than usual.");
    await expect
      .poll(
        async () => {
          await page.clock.runFor(1_000);
          return late.isVisible();
        },
        { timeout: 100_000 },
      )
      .toBe(true);
    expect(refreshes.requested).toBe(1);
  });
});

/** Takes requests of a path, and leaves them without an answer. */
async function leaveUnanswered(page: Page, path: string): Promise<{ requested: number }> {
  const taken = { requested: 0 };
  await page.route(
    ({ pathname }) => pathname === path,
    () => {
      taken.requested += 1;
    },
  );
  return taken;
}

/** Holds back the answers to a page's refreshes. `most`: how many were waited for at once. */
async function slowDown(page: Page, path: string): Promise<{ requested: number; most: number }> {
  const answers = { requested: 0, most: 0 };
  let waiting = 0;
  await page.route(
    ({ pathname }) => pathname === path,
    async (route) => {
      answers.requested += 1;
      waiting += 1;
      answers.most = Math.max(answers.most, waiting);
      await sleep(8_000);
      waiting -= 1;
      await route.continue().catch(() => {});
    },
  );
  return answers;
}
