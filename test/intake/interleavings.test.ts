import { Agent } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { fixtureDelivery } from "../fixtures/fixture.ts";
import { freshServer } from "../support/fresh-server.ts";
import { type HttpResponse as Answer, deliverWebhook } from "../support/http.ts";
import { SECRETS } from "../support/variables.ts";

const SUBSCRIPTIONS = 4;
const CONNECTIONS = 8;

/** One step of a schedule: the next event of a subscription, or a repeat of an earlier one. */
type Step = { subscription: number; again: boolean; connection: number; pauseMs: number };

const schedules = fc.array(
  fc.record<Step>({
    subscription: fc.nat(SUBSCRIPTIONS - 1),
    again: fc.boolean(),
    connection: fc.nat(CONNECTIONS - 1),
    pauseMs: fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(3) }),
  }),
  { minLength: 1, maxLength: 60 },
);

describe("any interleaving of deliveries", () => {
  const { test, server } = freshServer({ users: SUBSCRIPTIONS });
  let run = 0;
  const connections = Array.from(
    { length: CONNECTIONS },
    () => new Agent({ keepAlive: true, maxSockets: 1 }),
  );
  afterAll(async () => {
    for (const connection of connections) connection.destroy();
  });

  it("applies every event exactly once, in the order of arrival per subscription", async () => {
    await fc.assert(
      fc.asyncProperty(schedules, async (steps) => {
        run += 1;
        const answers = await play(server.url, `run${run}`, steps, connections);
        const expected = lastSeats(steps);

        const subscriptions = await test.rows<{ name: string; seats: number; out_of_order: boolean }>(
          `select provider_subscription_id as name, seats, out_of_order from subscription
           where provider_subscription_id like $1`,
          [`run${run}-%`],
        );
        // Event times increase with arrival: two in the wrong order would flag the subscription.
        expect(subscriptions.sort((a, b) => (a.name < b.name ? -1 : 1))).toEqual(
          [...expected].map(([subscription, seats]) => ({
            name: `run${run}-${subscription}`,
            seats,
            out_of_order: false,
          })),
        );
        const [counts] = await test.rows(
          `select count(distinct d.id)::int as events, count(*)::int as attempts,
             count(*) filter (where a.outcome = 'successful')::int as applied
           from webhook_delivery d join webhook_attempts a on a.delivery_id = d.id where d.event_id like $1`,
          [`run${run}-%`],
        );
        const events = new Set(answers.map((answer) => answer.eventId)).size;
        expect(counts).toEqual({ events, attempts: events, applied: events });
        expect(answers.filter((answer) => answer.body.duplicate === undefined)).toHaveLength(events);
        expect(answers.every((answer) => answer.status === 200)).toBe(true);
      }),
      { numRuns: 150, interruptAfterTimeLimit: 45_000 },
    );
  });
});

/**
 * Sends the steps without waiting for answers, except that a new event of a subscription leaves only when the
 * one before it has been answered: over several connections nobody knows otherwise what arrived first. What
 * arrives together is the matter of arrival-order.test.ts.
 */
async function play(url: string, run: string, steps: readonly Step[], connections: readonly Agent[]) {
  const sent = new Map<number, { number: number; answered: Promise<unknown> }>();
  const answers: Promise<Answer & { eventId: string }>[] = [];
  for (const step of steps) {
    const before = sent.get(step.subscription);
    const number = step.again && before ? before.number : (before?.number ?? 0) + 1;
    if (number !== before?.number && before) await before.answered;
    const answer = send(url, run, step.subscription, number, connections[step.connection] as Agent);
    answers.push(answer);
    if (number !== before?.number) {
      sent.set(step.subscription, { number, answered: answer });
    }
    if (step.pauseMs > 0) await sleep(step.pauseMs);
  }
  return Promise.all(answers);
}

async function send(url: string, run: string, subscription: number, number: number, agent: Agent) {
  const eventId = `${run}-${subscription}-${number}`;
  const kind = number === 1 ? "customer.subscription.created" : "customer.subscription.updated";
  const delivery = fixtureDelivery("stripe", kind, {
    secret: SECRETS["provider-a"],
    nowSeconds: Math.floor(Date.now() / 1000),
    eventId,
    userId: `user_${subscription}`,
    planId: "team",
    priceId: "price_team_monthly",
    subscriptionId: `${run}-${subscription}`,
    seats: seatsAt(number),
    occurredAt: new Date(Date.UTC(2026, 0, 1) + number * 1000),
  });
  return { ...(await deliverWebhook(url, "provider-a", delivery, { agent })), eventId };
}

function lastSeats(steps: readonly Step[]): Map<number, number> {
  const numbers = new Map<number, number>();
  for (const { subscription, again } of steps) {
    const before = numbers.get(subscription);
    numbers.set(subscription, again && before ? before : (before ?? 0) + 1);
  }
  return new Map(
    [...numbers].sort(([a], [b]) => a - b).map(([subscription, number]) => [subscription, seatsAt(number)]),
  );
}

function seatsAt(number: number): number {
  return 5 + number;
}
