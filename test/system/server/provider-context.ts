import { expect } from "vitest";
import { SLOTS } from "../../../src/domain/slot.ts";
import type { WireFormat } from "../../../src/providers/adapter.ts";
import type { RunningServer } from "../../../src/server.ts";
import { type Tollgate, tollgateIn } from "../../cli/tollgate.ts";
import { API_KEY, press, simulator, type TestSimulator } from "../../simulator/test-context.ts";
import { cleanedUp } from "../../support/cleanup.ts";
import { freshDatabase, type TestDatabase } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { sendRequest } from "../../support/http.ts";
import type { TestUser } from "../../support/people.ts";
import { startTestServer } from "../../support/server.ts";
import { GENEROUS_LIMITS, serverVariables } from "../../support/variables.ts";

/** The state of a subscription that both sides show. */
type SubscriptionFacts = {
  planId: string;
  seats: number;
  status: string;
  cancelAtPeriodEnd: boolean;
  providerSubscriptionId: string | null;
};

export type ProviderContext = {
  server: RunningServer;
  sim: TestSimulator;
  test: TestDatabase;
  tollgate: Tollgate;
  post(path: string, person: TestUser, body?: object): ReturnType<typeof sendRequest>;
  /** The state in the user's API response, and the provider's; both by the provider's id. */
  atApi(person: TestUser): Promise<SubscriptionFacts[]>;
  atProvider(person: TestUser): SubscriptionFacts[];
  /** Waits until these are the same. */
  waitUntilEqual(person: TestUser): Promise<void>;
  buy(person: TestUser, order: object): Promise<void>;
  /** Presses a button of the portal that Tollgate returns, for the running subscription. */
  press(person: TestUser, action: string, more?: Record<string, string>): Promise<void>;
  forward(by: string | number): Promise<void>;
};

/** A server, and the simulated provider of its payments: in this format, and in Paddle's for provider-b. */
export async function startProviderContext(
  format: WireFormat,
  { timeScale = 100, variables = {} }: { timeScale?: number; variables?: Record<string, string> } = {},
): Promise<ProviderContext> {
  const test = await freshDatabase(0);
  cleanedUp(test.drop);
  let server: RunningServer | null = null;
  const sim = await simulator({
    formats: { "provider-a": format },
    deliverTo: (slot) => (server ? `${server.url}/api/webhooks/${slot}` : ""),
    returnUrl: () => `${variables.APP_URL ?? server?.url}/billing`,
    timeScale,
  });
  const chosen = {
    ...GENEROUS_LIMITS,
    PROVIDER_A_ADAPTER: format,
    PROVIDER_A_API_KEY: API_KEY,
    PROVIDER_A_API_URL: `${sim.url}/provider-a`,
    PROVIDER_B_API_KEY: API_KEY,
    PROVIDER_B_API_URL: `${sim.url}/provider-b`,
    // On a busy machine the server refuses some events at first, and they arrive out of order.
    SELF_HEAL: "on",
    ...variables,
  };
  const running = await startTestServer(test.url, chosen);
  server = running;
  cleanedUp(running.close);

  const post: ProviderContext["post"] = (path, { cookie }, body) =>
    sendRequest(running.url, "POST", path, { body, cookie });
  const atApi: ProviderContext["atApi"] = async ({ cookie }) => {
    const { body } = await sendRequest(running.url, "GET", "/api/subscriptions", { cookie });
    return (body.subscriptions as SubscriptionFacts[]).map(factsOf).sort(byName);
  };
  const atProvider: ProviderContext["atProvider"] = ({ id }) =>
    SLOTS.flatMap((slot) => sim.subscriptions(slot))
      .filter(({ userId }) => userId === id)
      .map(factsOf)
      .sort(byName);
  return {
    server: running,
    sim,
    test,
    post,
    atApi,
    atProvider,
    tollgate: tollgateIn({ ...serverVariables(test.url), ...chosen }),
    waitUntilEqual: async (person) => {
      await sim.settle();
      await eventually(() => atApi(person), atProvider(person));
    },
    buy: async (person, order) => {
      const { body, text } = await post("/api/checkout", person, order);
      expect(body.url, text).toMatch(new RegExp(`^${sim.url}/provider-[ab]/`));
      const paid = await press(body.url, { email: person.email, card: "4242 4242 4242 4242", action: "pay" });
      expect(paid.status).toBe(303);
    },
    press: async (person, action, more = {}) => {
      const { body, text } = await post("/api/portal", person);
      expect(body?.url, text).toMatch(/^http/);
      const running = atProvider(person).find(({ status }) => status !== "canceled");
      const subscription = String(running?.providerSubscriptionId);
      const pressed = await press(body.url, { subscription, action, ...more });
      expect(pressed.status, pressed.text).toBe(303);
    },
    forward: sim.passTime,
  };
}

function factsOf(facts: SubscriptionFacts): SubscriptionFacts {
  const { planId, seats, status, cancelAtPeriodEnd, providerSubscriptionId } = facts;
  return { planId, seats, status, cancelAtPeriodEnd, providerSubscriptionId };
}

function byName(a: SubscriptionFacts, b: SubscriptionFacts): number {
  return String(a.providerSubscriptionId) < String(b.providerSubscriptionId) ? -1 : 1;
}

type Step = {
  title: string;
  /** What the person does. */
  act?(context: ProviderContext, person: TestUser): Promise<void>;
  /** Then a month passes, for everybody. */
  timePasses?: "month";
  result: object;
};

/** From the first purchase to its end. */
const WHOLE_LIFE: readonly Step[] = [
  {
    title: "buys",
    act: ({ buy }, person) => buy(person, { planId: "pro", seats: 2 }),
    result: { planId: "pro", seats: 2, status: "active", cancelAtPeriodEnd: false },
  },
  {
    title: "changes the seats",
    act: ({ press }, person) => press(person, "seats", { seats: "5" }),
    result: { planId: "pro", seats: 5, status: "active" },
  },
  {
    title: "upgrades",
    act: ({ press }, person) => press(person, "plan", { price: "price_team_monthly" }),
    result: { planId: "team", seats: 5, status: "active" },
  },
  {
    title: "has a payment fail",
    act: ({ press }, person) => press(person, "fail_renewal"),
    timePasses: "month",
    result: { planId: "team", status: "past_due" },
  },
  {
    title: "pays after all",
    act: async ({ press }, person) => {
      await press(person, "pay_owed");
      await press(person, "allow_renewal");
    },
    result: { planId: "team", status: "active" },
  },
  {
    title: "cancels",
    act: ({ press }, person) => press(person, "cancel_at_period_end"),
    result: { status: "active", cancelAtPeriodEnd: true },
  },
  { title: "reaches the end", timePasses: "month", result: { status: "canceled" } },
];

/** Runs it for all of these users at once, and reports after each step. */
export async function runWholeLife(
  context: ProviderContext,
  people: readonly TestUser[],
  after: (step: Step) => Promise<void>,
): Promise<void> {
  for (const step of WHOLE_LIFE) {
    for (const person of people) await step.act?.(context, person);
    if (step.timePasses) await context.forward(step.timePasses);
    await context.sim.settle();
    await after(step);
  }
}
