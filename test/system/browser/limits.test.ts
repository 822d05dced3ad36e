import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { sendRequest } from "../../support/http.ts";
import { createUser } from "../../support/people.ts";
import { describeInBrowser } from "./describe-in-browser.ts";
import { fill, press, subscribe } from "./page-actions.ts";
import { siteInBrowser } from "./site-in-browser.ts";

const REFUSED = "Too many requests. Please wait a moment.";

describeInBrowser("over the limit", () => {
  const { site, visit } = siteInBrowser({
    RATE_LIMIT_SETTINGS: "2/5",
    RATE_LIMIT_AUTH_SIGN_IN: "2/5",
    RATE_LIMIT_BILLING: "2/5",
    RATE_LIMIT_AUTH_SESSION: "1/3600",
  });

  /** Again and again: on a slow machine, the first may be forgotten before the last. */
  async function renameUntilRefused(page: Page): Promise<string> {
    for (let n = 1; n <= 30; n += 1) {
      const name = `Name ${n}`;
      await fill(page, { Name: name });
      await press(page, "Save name");
      const alert = page.getByRole("alert").filter({ hasText: REFUSED });
      const isNamed = page.getByRole("complementary").getByText(name, { exact: true });
      await isNamed.or(alert).first().waitFor();
      if (await alert.isVisible()) return name;
    }
    throw new Error("never refused");
  }

  it("shows the reason and a countdown, and keeps the typed values", async () => {
    const page = await visit({ as: await createUser(site.test) });
    await page.goto("/settings");
    const name = await renameUntilRefused(page);
    const alert = page.getByRole("alert").filter({ hasText: REFUSED });
    const waits = new Set<string>();
    const hasCountedDown = async () => {
      const text = (await alert.textContent()) as string;
      waits.add(/Try again in (\d+) s\./.exec(text)?.[1] ?? "over");
      return waits.has("over") && waits.size > 1;
    };
    await eventually(hasCountedDown, true);
    expect(Math.max(...[...waits].filter((wait) => wait !== "over").map(Number))).toBeLessThanOrEqual(5);
    await alert.getByText(REFUSED, { exact: true }).waitFor();

    expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe(name);
    await press(page, "Save name");
    await page.getByText("Name saved.").waitFor();
    await page.getByRole("complementary").getByText(name, { exact: true }).waitFor();
  });

  it("shows the reason and the seconds without JavaScript", async () => {
    const page = await visit({ as: await createUser(site.test), javaScriptEnabled: false });
    await page.goto("/settings");
    const name = await renameUntilRefused(page);
    await page
      .getByRole("alert")
      .getByText(/^Too many requests\. Please wait a moment\. Try again in \d s\.$/)
      .waitFor();
    expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe(name);
    const canRetry = async () => {
      await press(page, "Save name");
      return page.getByText("Name saved.").isVisible();
    };
    await eventually(canRetry, true);
    await page.getByRole("complementary").getByText(name, { exact: true }).waitFor();
  });

  it.each([true, false])(
    "says on a phone why nobody was signed out (JavaScript: %s)",
    async (javaScriptEnabled) => {
      const options = { javaScriptEnabled, viewport: { width: 390, height: 844 } };
      const signOut = async () => {
        const page = await visit({ ...options, as: await createUser(site.test) });
        await page.goto("/settings");
        await page.getByRole("button", { name: "Open menu" }).click();
        await page.locator("#sheet").getByRole("button", { name: "Sign out" }).click();
        return page;
      };
      await signOut();
      const refused = await signOut();
      await refused.getByText(REFUSED).filter({ visible: true }).waitFor();
      expect(await refused.getByText(REFUSED).filter({ visible: true }).count()).toBe(1);
    },
  );

  it.each([true, false])(
    "keeps the review of a change, which can be confirmed afterwards (JavaScript: %s)",
    async (javaScriptEnabled) => {
      const someone = await createUser(site.test);
      await subscribe(site, someone, 2);
      const page = await visit({ as: someone, javaScriptEnabled });
      const team = page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: "Team" }) });
      const review = team.locator("dl");
      const result = team.getByText(/^The change takes effect on /);
      const refusal = team.getByRole("alert").filter({ hasText: REFUSED });
      const openPortal = () => sendRequest(site.url, "POST", "/api/portal", { cookie: someone.cookie });

      /** Again and again, as in `renameUntilRefused`; returns the seats and the review. */
      async function confirmUntilRefused(): Promise<[seats: number, shown: string | null]> {
        for (let seats = 6; seats <= 30; seats += 1) {
          await page.goto("/billing");
          await team.getByLabel("When").selectOption("period_end");
          await team.getByLabel("Seats", { exact: true }).fill(`${seats}`);
          await press(page, "Switch to Team");
          await review.or(refusal).first().waitFor();
          if (await refusal.isVisible()) continue;
          const shown = await review.textContent();
          await eventually(async () => (await openPortal()).status, 429);
          await press(page, "Confirm change");
          await result.or(refusal).first().waitFor();
          if (await refusal.isVisible()) return [seats, shown];
        }
        throw new Error("never refused");
      }

      const [seats, shown] = await confirmUntilRefused();
      await team.getByRole("heading", { name: "Review your change" }).waitFor();
      expect(shown).toMatch(new RegExp(`^PlanTeamSeats${seats}Takes effect`));
      expect(await review.textContent()).toBe(shown);

      const isConfirmed = async () => {
        // Without JavaScript it neither counts down nor says that it is being sent.
        if (javaScriptEnabled) await team.locator("[data-wait]").waitFor({ state: "detached" });
        // Without JavaScript the page before shows the same button until the next one is there.
        const loaded = javaScriptEnabled ? result.waitFor() : page.waitForEvent("load");
        await press(page, "Confirm change");
        await loaded;
        return result.isVisible();
      };
      await eventually(isConfirmed, true);
      const scheduled = await site.test.rows(
        `select scheduled_change.plan_id, scheduled_change.seats from scheduled_change
         join subscription on subscription.id = subscription_id where user_id = $1`,
        [someone.id],
      );
      expect(scheduled).toEqual([{ plan_id: "team", seats }]);
    },
  );

  it("shows the limit on sign-in in the user's language", async () => {
    const page = await visit({ locale: "de-DE" });
    await page.goto("/sign-in");
    const isRefused = async () => {
      await fill(page, { "E-Mail-Adresse": "nobody@example.com", Passwort: "a guess of mine" });
      await press(page, "Anmelden");
      await page.getByRole("alert").first().waitFor();
      return page.getByText("Zu viele Anfragen. Bitte warten Sie einen Moment.").isVisible();
    };
    await eventually(isRefused, true);
    await page
      .getByText(/In \d s erneut versuchen\./)
      .first()
      .waitFor();
  });
});
