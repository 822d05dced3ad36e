import { expect, it } from "vitest";
import { press as pressAt } from "../../simulator/test-context.ts";
import { eventually } from "../../support/eventually.ts";
import { sendRequest } from "../../support/http.ts";
import { createUser } from "../../support/people.ts";
import { createSubscription } from "../../support/subscriptions.ts";
import { describeInBrowser } from "./describe-in-browser.ts";
import { press, section } from "./page-actions.ts";
import { siteInBrowser } from "./site-in-browser.ts";
import { waitForHydration } from "./wait-for-hydration.ts";

describeInBrowser("the changes that the billing page offers", () => {
  const { site, visit } = siteInBrowser({ PROVIDER_A_ADAPTER: "lemon-squeezy" });

  const LATER = "2100-01-01";
  const ENDING = { status: "active", current_period_end: LATER, cancel_at_period_end: true };
  const TRIAL = { status: "trialing", current_period_end: LATER };

  it.each<[string, string, { status: string } & Parameters<typeof createSubscription>[2], string[]]>([
    ["Polar", "while the subscription is ending", { ...ENDING, provider: "provider-c" }, []],
    [
      "Paddle",
      "while the subscription is ending",
      { ...ENDING, provider: "provider-b" },
      ["Change seats", "Switch to Team"],
    ],
    ["Lemon Squeezy", "in a trial of one seat", { ...TRIAL, seats: 1 }, []],
    ["Lemon Squeezy", "in a trial of five seats", { ...TRIAL, seats: 5 }, ["Switch to Team"]],
    ["Lemon Squeezy", "in a trial of six seats", { ...TRIAL, plan_id: "team", seats: 6 }, []],
    ["Paddle", "in a trial", { ...TRIAL, provider: "provider-b" }, ["Change seats", "Switch to Team"]],
  ])("are those that %s makes %s", async (_, _when, subscription, offered) => {
    const someone = await createUser(site.test);
    await createSubscription(site.test, someone.id, subscription);
    const page = await visit({ as: someone });
    await page.goto("/billing");
    const plans = section(page, "Plans");
    const buttons = await plans.getByRole("button", { name: /^(Change|Switch)/ }).allInnerTexts();
    expect(buttons).toEqual(offered);
    const isWithoutSeats = subscription.status === "trialing" && !offered.includes("Change seats");
    expect(await plans.getByLabel("Seats", { exact: true }).count()).toBe(
      isWithoutSeats ? 0 : offered.length,
    );
    expect(await plans.getByText("Seats can be changed once the trial is over.").count()).toBe(
      isWithoutSeats ? 2 - offered.length : 0,
    );
  });

  it.each([true, false])(
    "are confirmed where they were made, although their form is gone (JavaScript: %s)",
    async (javaScriptEnabled) => {
      const someone = await createUser(site.test);
      const { cookie, email } = someone;
      const body = { planId: "pro", seats: 5 };
      const { body: opened } = await sendRequest(site.url, "POST", "/api/checkout", { cookie, body });
      await pressAt(opened.url, { email, card: "4242 4242 4242 4242", trial: "on", action: "pay" });
      const state = () =>
        site.test.rows("select status, plan_id from subscription where user_id = $1", [someone.id]);
      await eventually(state, [{ status: "trialing", plan_id: "pro" }]);
      const page = await visit({ as: someone, javaScriptEnabled });
      await page.goto("/billing");
      const team = page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: "Team" }) });
      const focused = (text: string) => page.locator(":focus", { hasText: text }).waitFor();
      if (javaScriptEnabled) await waitForHydration(team.getByRole("button"));
      await press(page, "Switch to Team");
      if (javaScriptEnabled) await focused("Review your change");
      await press(page, "Confirm change");
      if (javaScriptEnabled) await focused("Subscription changed.");
      await section(page, "Current plan").getByText("Team", { exact: true }).waitFor();
      await team.getByText("Seats can be changed once the trial is over.").waitFor();
      await team.getByRole("status").getByText("Subscription changed.").waitFor();
    },
  );

  it("cost what the next period does where they wait for it, also if the provider does not say so", async () => {
    const someone = await createUser(site.test);
    const atPolar = { provider: "provider-c", price_id: "prod_pro", current_period_end: LATER };
    await createSubscription(site.test, someone.id, atPolar);
    const page = await visit({ as: someone });
    const review = async (button: string, seats: string, path = "/billing") => {
      await page.goto(path);
      const offer = page.getByRole("listitem").filter({ has: page.getByRole("button", { name: button }) });
      await offer.getByLabel("When").selectOption("period_end");
      await offer.getByLabel("Seats", { exact: true }).fill(seats);
      await offer.getByRole("button", { name: button }).click();
      await page.getByRole("heading", { name: "Review your change" }).waitFor();
      return page
        .getByRole("listitem")
        .filter({ has: page.getByText("Amount due") })
        .locator("dd")
        .last();
    };
    expect(await (await review("Switch to Team", "6")).textContent()).toBe("€90");
    expect(await (await review("Change seats", "3")).textContent()).toBe("€60");
    const yearly = "/billing?interval=year&currency=EUR";
    expect(await (await review("Switch to yearly billing", "2", yearly)).textContent()).toBe("€400");
  });
});
