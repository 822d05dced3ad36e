import { expect, it } from "vitest";
import { createUser } from "../../support/people.ts";
import { createSubscription } from "../../support/subscriptions.ts";
import { describeInBrowser } from "./describe-in-browser.ts";
import { section } from "./page-actions.ts";
import { siteInBrowser } from "./site-in-browser.ts";

describeInBrowser("the changes that the billing page offers", () => {
  const { site, visit } = siteInBrowser({ PROVIDER_A_ADAPTER: "lemon-squeezy" });

  const LATER = "2100-01-01";
  const ENDING = { status: "active", current_period_end: LATER, cancel_at_period_end: true };
  const TRIAL = { status: "trialing", current_period_end: LATER };

  it.each([
    ["Polar", "while the subscription is ending", { ...ENDING, provider: "provider-c" }, []],
    [
      "Paddle",
      "while the subscription is ending",
      { ...ENDING, provider: "provider-b" },
      ["Change seats", "Switch to Team"],
    ],
    ["Lemon Squeezy", "in a trial of one seat", { ...TRIAL, seats: 1 }, []],
    ["Lemon Squeezy", "in a trial of five seats", { ...TRIAL, seats: 5 }, ["Switch to Team"]],
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
});
