import { expect } from "vitest";
import { SLOTS } from "../../../src/domain/slot.ts";
import type { WireFormat } from "../../../src/providers/adapter.ts";
import type { RunningServer } from "../../../src/server.ts";
import { type Tollgate, tollgateIn } from "../../cli/tollgate.ts";
import { API_KEY, control, press, simulator } from "../../simulator/test-context.ts";
import { cleanedUp } from "../../support/cleanup.ts";
import { freshDatabase, type TestDatabase } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { sendRequest } from "../../support/http.ts";
import type { TestUser } from "../../support/people.ts";
import { startTestServer } from "../../support/server.ts";
import { GENEROUS_LIMITS, serverVariables } from "../../support/variables.ts";

/** What both sides know of a subscription. */
type Standing = {
  planId: string;
  seats: number;
  status: string;
  cancelAtPeriodEnd: boolean;
  providerSubscriptionId: string | null;
};

export type Shop = {
  server: RunningServer;
  sim: Awaited<ReturnType<typeof simulator>>;
  test: TestDatabase;
  tollgate: Tollgate;
  post(path: string, person: TestUser, body?: object): ReturnType<typeof sendRequest>;
  /** What the API says to the person, and what the provider holds to be true; both by the provider's id. */
  known(person: TestUser): Promise<Standing[]>;
  truth(person: TestUser): Standing[];
  /** Waits until these are the same. */
  agree(person: TestUser): Promise<void>;
  buy(person: TestUser, order: object): Promise<void>;
  /** Presses a button of the portal that Tollgate sends the person to, at the subscription that runs. */
  press(person: TestUser, action: string, more?: Record<string, string>): Promise<void>;
  forward(by: string | number): Promise<void>;
};

/** A server of the product, and the simulated provider that it takes payments by: in this format, and in provider-b by Paddle's. */
export async function openShop(
  format: WireFormat,
  { timeScale = 100, variables = {} }: { timeScale?: number; variables?: Record<string, string> } = {},
): Promise<Shop> {
  const test = await freshDatabase(0);
  cleanedUp(test.drop);
  let server: RunningServer | null = null;
  const sim = await simulator({
    formats: { "provider-a": format },
    deliverTo: (slot) => (server ? `${server.url}/api/webhooks/${slot}` : ""),
    returnUrl: () => `${variables.APP_URL ?? server?.url}/billing?checkout=completed`,
    timeScale,
  });
  const chosen = {
    ...GENEROUS_LIMITS,
    PROVIDER_A_ADAPTER: format,
    PROVIDER_A_API_KEY: API_KEY,
    PROVIDER_A_API_URL: `${sim.url}/provider-a`,
    PROVIDER_B_API_KEY: API_KEY,
    PROVIDER_B_API_URL: `${sim.url}/provider-b`,
    ...variables,
  };
  const running = await startTestServer(test.url, chosen);
  server = running;
  cleanedUp(running.close);

  const post: Shop["post"] = (path, { cookie }, body) =>
    sendRequest(running.url, "POST", path, { body, cookie });
  const known: Shop["known"] = async ({ cookie }) => {
    const { body } = await sendRequest(running.url, "GET", "/api/subscriptions", { cookie });
    return (body.subscriptions as Standing[]).map(standing).sort(byName);
  };
  const truth: Shop["truth"] = ({ id }) =>
    SLOTS.flatMap((slot) => sim.subscriptions(slot))
      .filter(({ userId }) => userId === id)
      .map(standing)
      .sort(byName);
  return {
    ...{ server: running, sim, test, post, known, truth },
    tollgate: tollgateIn({ ...serverVariables(test.url), ...chosen }),
    agree: async (person) => {
      await sim.settle();
      await eventually(() => known(person), truth(person));
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
      const subscription = truth(person).find(({ status }) => status !== "canceled")?.providerSubscriptionId;
      const pressed = await press(body.url, { subscription: subscription as string, action, ...more });
      expect(pressed.status, await pressed.text()).toBe(303);
    },
    forward: async (by) => void (await control(sim.url, "/clock", { by })),
  };
}

function standing({ planId, seats, status, cancelAtPeriodEnd, providerSubscriptionId }: Standing): Standing {
  return { planId, seats, status, cancelAtPeriodEnd, providerSubscriptionId };
}

function byName(a: Standing, b: Standing): number {
  return String(a.providerSubscriptionId) < String(b.providerSubscriptionId) ? -1 : 1;
}

type Step = {
  is: string;
  /** What the person does. */
  act?(shop: Shop, person: TestUser): Promise<void>;
  /** Then a month passes, for everybody. */
  passes?: "month";
  leaves: object;
};

/** From the first purchase to its end. */
const WHOLE_LIFE: readonly Step[] = [
  {
    is: "buys",
    act: ({ buy }, person) => buy(person, { planId: "pro", seats: 2 }),
    leaves: { planId: "pro", seats: 2, status: "active", cancelAtPeriodEnd: false },
  },
  {
    is: "changes the seats",
    act: ({ press }, person) => press(person, "seats", { seats: "5" }),
    leaves: { planId: "pro", seats: 5, status: "active" },
  },
  {
    is: "upgrades",
    act: ({ press }, person) => press(person, "plan", { price: "price_team_monthly" }),
    leaves: { planId: "team", seats: 5, status: "active" },
  },
  {
    is: "has a payment fail",
    act: ({ press }, person) => press(person, "fail_renewal"),
    passes: "month",
    leaves: { planId: "team", status: "past_due" },
  },
  {
    is: "pays after all",
    act: async ({ press }, person) => {
      await press(person, "pay_owed");
      await press(person, "allow_renewal");
    },
    leaves: { planId: "team", status: "active" },
  },
  {
    is: "cancels",
    act: ({ press }, person) => press(person, "cancel_at_period_end"),
    leaves: { status: "active", cancelAtPeriodEnd: true },
  },
  { is: "reaches the end", passes: "month", leaves: { status: "canceled" } },
];

/** Lives it, all of these people at once, and tells after each step. */
export async function liveWholeLife(
  shop: Shop,
  people: readonly TestUser[],
  after: (step: Step) => Promise<void>,
): Promise<void> {
  for (const step of WHOLE_LIFE) {
    for (const person of people) await step.act?.(shop, person);
    if (step.passes) await shop.forward(step.passes);
    await shop.sim.settle();
    await after(step);
  }
}
