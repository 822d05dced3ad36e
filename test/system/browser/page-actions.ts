import type { Page } from "playwright-core";
import { press as pressAt } from "../../simulator/test-context.ts";
import { eventually } from "../../support/eventually.ts";
import { sendRequest } from "../../support/http.ts";
import type { TestUser } from "../../support/people.ts";
import type { Site } from "./site.ts";

export const PASSWORD = "a long password";

let people = 0;

export function newPerson(): { name: string; email: string } {
  people += 1;
  return { name: "Somebody New", email: `somebody-${process.pid}-${people}@example.com` };
}

/** Fills in fields, by their labels. */
export async function fill(page: Page, fields: Record<string, string>): Promise<void> {
  for (const [label, text] of Object.entries(fields))
    await page.getByLabel(label, { exact: true }).fill(text);
}

export async function press(page: Page, button: string): Promise<void> {
  await page.getByRole("button", { name: button, exact: true }).click();
}

/** Pays in the provider's checkout and waits for the billing page. */
export async function buy(page: Page, plan: string): Promise<void> {
  await press(page, `Choose ${plan}`);
  await page.getByLabel("Test card").waitFor();
  await page.getByRole("button", { name: /^Pay / }).click();
  await page.waitForURL(/\/billing\?checkout=completed/);
}

/** A section of a page, by its heading. */
export function section(page: Page, heading: string) {
  return page
    .getByRole("main")
    .locator("section")
    .filter({ has: page.getByRole("heading", { name: heading, exact: true }) });
}

/** Buys a plan without a browser. */
export async function subscribe(site: Site, { cookie, email }: TestUser, seats = 1): Promise<void> {
  const body = { planId: seats < 5 ? "pro" : "team", seats };
  const { body: opened } = await sendRequest(site.url, "POST", "/api/checkout", { cookie, body });
  await pressAt(opened.url, { email, card: "4242 4242 4242 4242", action: "pay" });
  // Two events: the payment and the subscription.
  const subscriptionState = async () => {
    const { body: page } = await sendRequest(site.url, "GET", "/api/subscriptions", { cookie });
    const [subscription] = page.subscriptions;
    return subscription && [subscription.status, subscription.seats, subscription.currentPeriodEnd !== null];
  };
  await eventually(subscriptionState, ["active", seats, true]);
}
