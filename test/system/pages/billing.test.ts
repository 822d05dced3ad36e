import { afterAll, beforeAll, describe, expect, it } from "vitest";
import plans from "../../../plans.config.ts";
import { readConfig } from "../../../src/config/config.ts";
import { definePlans } from "../../../src/domain/plans/plan.ts";
import { createLog } from "../../../src/observability/log.ts";
import { type RunningServer, startServer } from "../../../src/server.ts";
import { builtPages } from "../../support/built-pages.ts";
import { createUser } from "../../support/people.ts";
import { createSubscription } from "../../support/subscriptions.ts";
import { testDatabase } from "../../support/test-database.ts";
import { serverVariables } from "../../support/variables.ts";
import { APP_URL, openPage, sendForm } from "./open-page.ts";

const test = testDatabase(0);
const team = plans.find("team") as (typeof plans.plans)[number];
const catalog = definePlans([
  ...plans.plans,
  {
    ...team,
    id: "studio",
    name: "Studio",
    accessStatuses: ["active", "unpaid"],
    priceIds: { "provider-a": "price_studio" },
    prices: [
      { amount: 1700, currency: "USD", interval: "month", priceIds: { "provider-a": "price_studio_usd" } },
    ],
  },
  { ...team, id: "retired", name: "Retired", priceIds: {}, prices: [] },
]);

let server: RunningServer;
beforeAll(async () => {
  await builtPages();
  const config = readConfig({
    ...serverVariables(test.url),
    LOG_LEVEL: "silent",
    APP_URL,
    PROVIDER_A_API_KEY: "sk_test_of_nobody",
    PROVIDER_A_API_URL: "http://127.0.0.1:1",
  });
  server = await startServer({ ...config, plans: catalog }, { log: createLog(config.logLevel) });
  // The first page of a process takes long on a busy machine.
  await fetch(`${server.url}/sign-in`);
}, 180_000);
afterAll(() => server.close());

async function newUser() {
  const user = await createUser(test, "Somebody New", { isHttps: true });
  return { ...user, open: (path: string) => openPage(server.url, path, user.cookie) };
}

describe("the plans", () => {
  it("are bought in the currency in which they are shown", async () => {
    const { open } = await newUser();
    const { html, text } = await open("/billing?interval=month&currency=USD");
    expect(text).toContain("$17 per seat / month");
    expect(html).toMatch(
      /<input(?=[^>]* name="currency")[^>]* value="USD"[^>]*>(?:(?!<\/form>).)*Choose Studio/s,
    );
  });

  it("leave the one that was chosen before signing up chosen, by the year too", async () => {
    const { open } = await newUser();
    expect((await open("/billing?plan=team")).html).toContain(
      'href="/billing?plan=team&amp;interval=year&amp;currency=EUR"',
    );
  });

  it("are shown to a subscriber in the currency that is paid alone", async () => {
    const { id, open } = await newUser();
    expect((await open("/billing")).html).toContain("currency=USD");
    await createSubscription(test, id);
    expect((await open("/billing")).html).not.toContain("currency=USD");
  });

  it("name no price of the plan that is paid at a former one", async () => {
    const { id, open } = await newUser();
    await createSubscription(test, id, { price_id: "price_of_last_year" });
    const { text } = await open("/billing");
    expect(text).toContain("€15 per seat / month");
    expect(text).not.toContain("€20 per seat / month");
  });

  it("are sold no more once they are retired, also to whoever has not finished paying", async () => {
    const { id, open } = await newUser();
    await createSubscription(test, id, { plan_id: "retired", status: "incomplete" });
    const { text } = await open("/billing");
    expect(text).toContain("Retired Awaiting payment");
    expect(text).toContain("Choose Team");
    expect(text).not.toContain("Choose Retired");
  });
});

describe("the landing page", () => {
  it("offers what is for sale, with its seats, and leads whoever is signed in to the choice", async () => {
    const { text, html } = await (await newUser()).open("/");
    expect(text).toMatch(/ Free .* 1 seat .* Pro €20 .* 1 to 5 seats /);
    expect(text).not.toContain("Retired");
    expect(html).toContain('href="/billing?plan=pro"');
  });
});

describe("the current plan", () => {
  it("has its seats and what each of them costs", async () => {
    const { id, open } = await newUser();
    await createSubscription(test, id, { seats: 3 });
    expect((await open("/billing")).text).toContain(" Seats 3 Price per seat €20 / month ");
  });
});

describe("after a checkout", () => {
  it("a payment is awaited also beside a plan that is owned", async () => {
    const { id, open } = await newUser();
    const once = { is_one_time: true, provider_subscription_id: null, created_at: "2026-01-01" };
    await createSubscription(test, id, once);
    const shown = async () => (await open("/billing?checkout=completed")).text;
    expect(await shown()).not.toContain("Confirming your payment…");
    await test.rows(
      `insert into checkout (user_id, provider, plan_id, price_id, seats, idempotency_key, url, opened_at)
       values ($1, 'provider-a', 'team', 'price_team_monthly', 5, gen_random_uuid(), 'https://pay.example.com', now())`,
      [id],
    );
    expect(await shown()).toContain("Confirming your payment…");
  });
});

describe("a change that waits", () => {
  it("is not withdrawn for a plan that has changed since, which is said", async () => {
    const { id, cookie } = await newUser();
    const subscription = await createSubscription(test, id, { current_period_end: "2090-03-04" });
    await test.rows(
      `insert into scheduled_change (subscription_id, plan_id, seats, takes_effect_at)
       values ($1, 'team', 6, '2090-03-04')`,
      [subscription],
    );
    const { text } = await sendForm(server.url, "/billing", cookie, {
      on: "Keep current plan",
      fields: { expectedSeats: "2" },
    });
    expect(text).toContain("has changed since you saw this");
    expect(await test.rows("select seats from scheduled_change")).toEqual([{ seats: 6 }]);
  });
});

describe("the billing portal", () => {
  it("is opened for the subscription beside which its button is", async () => {
    const { id, open } = await newUser();
    const ids = [
      await createSubscription(test, id),
      await createSubscription(test, id, { provider: "provider-b" }),
    ];
    const { html, text } = await open("/billing");
    expect(text).toContain("You’re paying for more than one subscription.");
    const sent = [...html.matchAll(/<input(?=[^>]* name="subscriptionId")[^>]* value="([^"]*)"/g)];
    expect(sent.map(([, value]) => value).sort()).toEqual(ids.sort());
  });

  it("has nothing left to cancel where only one of two subscriptions is charged again", async () => {
    const { id, open } = await newUser();
    await createSubscription(test, id);
    await createSubscription(test, id, {
      provider: "provider-b",
      cancel_at_period_end: true,
      current_period_end: "2090-03-04",
    });
    for (const page of ["/billing", "/dashboard"]) {
      const { text } = await open(page);
      expect(text).toContain("Ends on March 4, 2090");
      expect(text).not.toContain("more than one subscription");
    }
  });

  it("can be opened for the invoices of a subscription that has ended", async () => {
    const { id, open } = await newUser();
    expect((await open("/billing")).text).not.toContain("Open billing portal");
    await createSubscription(test, id, { status: "canceled" });
    expect((await open("/billing")).text).toContain("Open billing portal");
  });
});

describe("what a subscription includes", () => {
  it("is said in words, without what it does not include", async () => {
    const { id, open } = await newUser();
    await createSubscription(test, id);
    const { text } = await open("/billing");
    expect(text).toContain(" 10 projects Included ");
    expect(text).toContain(" 100,000 events per billing period 0 used, ");
    expect(text).not.toMatch(/(community|priority)-support/);
  });
});

describe("the payments", () => {
  it("are shown with their amount, their status and their receipt", async () => {
    const { id, open } = await newUser();
    await test.rows(
      `insert into payment
         (provider, provider_payment_id, user_id, amount, currency, state, status, receipt_url, occurred_at)
       select 'provider-a', $1 || status, $1, amount, 'eur', 'paid', status, 'https://pay.example.com/' || status, now()
       from (values (2000, 'paid'), (2100, 'failed'), (123456, 'partly_refunded')) as payment (amount, status)`,
      [id],
    );
    const { html, text } = await open("/billing");
    for (const row of ["€20 Paid", "€21 Failed", "€1,234.56 Partly refunded"])
      expect(text).toContain(` ${row} Open receipt `);
    expect(html).toContain('href="https://pay.example.com/partly_refunded"');
  });
});

describe("the history", () => {
  it("leads to that of each subscription", async () => {
    const { id, open } = await newUser();
    const ended = await createSubscription(test, id, { status: "canceled", created_at: "2026-01-01" });
    await createSubscription(test, id, { created_at: "2026-02-01" });
    const { html } = await open("/billing");
    expect(html).toContain(`href="/billing?subscription=${ended}"`);
  });
});

describe("a payment that is still due", () => {
  it.each([
    ["pro", "A payment for Pro is still due. You won’t have access until it’s paid."],
    ["studio", null],
  ])("is on every page unless the plan gives access all the same: %s", async (plan, sentence) => {
    const { id, open } = await newUser();
    await createSubscription(test, id, { plan_id: plan, status: "unpaid" });
    const { text } = await open("/settings");
    if (sentence === null) expect(text).not.toContain("still due");
    else expect(text).toContain(sentence);
  });
});
