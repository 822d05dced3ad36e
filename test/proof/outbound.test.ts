import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, it } from "vitest";
import { SUBSCRIPTION_EVENT_TYPES } from "../../src/domain/outbound/outbound-event.ts";
import type { Milestone } from "../../src/intake/intake.ts";
import type { OutboundMilestone } from "../../src/outbound/milestone.ts";
import { newEndpointSecret } from "../../src/outbound/sign.ts";
import { insertEndpoint } from "../../src/store/outbound/event-endpoints.ts";
import { fixtureDelivery } from "../fixtures/fixture.ts";
import { type Receiver, startReceiver } from "../outbound/receiver.ts";
import { eventually } from "../support/eventually.ts";
import { deliverWebhook } from "../support/http.ts";
import { runUntilCrash, type ServerProcess, spawnServer } from "../support/server-process.ts";
import { storedEvents } from "../support/stored-events.ts";
import { testDatabase } from "../support/test-database.ts";
import { SECRETS } from "../support/variables.ts";
import { isFullProof, report } from "./proof.ts";

/** Every step between a change and the end of its delivery. */
const STEPS: (Milestone | OutboundMilestone)[] = [
  "effects written",
  "committed",
  "positions given",
  "relayed",
  "delivery claimed",
  "delivery sent",
  "delivery recorded",
];
const KILLS = Number(process.env.KILLS ?? (isFullProof ? 1_000 : STEPS.length));
const SUBSCRIPTIONS = 6;
/**
 * The slow endpoint takes each subscription's events one after the other, and has seen few of them during the
 * kills.
 */
const CATCH_UP_MS = 120_000 + KILLS * 2_000;
/** Of one process to one endpoint. */
const MAX_CONCURRENT = 8;
const VARIABLES = { OUTBOUND_ALLOW: "127.0.0.0/8", WEBHOOK_LEASE_SECONDS: "1" };

const test = testDatabase();
const closing: Receiver[] = [];
afterAll(() => Promise.all(closing.map((closable) => closable.close())));

type Endpoint = Receiver & { id: string; accepted: string[] };

/**
 * @param answers the status of the n-th request, after which wait; `null`: none. Accepted events are kept by
 * their ids.
 */
async function endpoint(
  answers: (n: number) => { status: number; afterMs?: number } | null,
): Promise<Endpoint> {
  const accepted: string[] = [];
  let requests = 0;
  const receiver = await startReceiver((response, { event }) => {
    requests += 1;
    const answer = answers(requests);
    if (answer === null) return;
    if (answer.status < 300) accepted.push(event.id);
    setTimeout(() => response.writeHead(answer.status).end(), answer.afterMs ?? 0);
  });
  closing.push(receiver);
  const { id } = await insertEndpoint(test.database, {
    url: receiver.url,
    types: SUBSCRIPTION_EVENT_TYPES,
    description: null,
    secret: newEndpointSecret(),
    createdBy: null,
  });
  return { ...receiver, id, accepted };
}

/** The provider of one subscription: sends each change until it is acknowledged, then the next. */
function changing(subscription: number) {
  let seats = 5;
  return {
    changes: () => seats - 5,
    send: async ({ url }: ServerProcess): Promise<boolean> => {
      const kind = seats === 5 ? "customer.subscription.created" : "customer.subscription.updated";
      const delivery = fixtureDelivery("stripe", kind, {
        secret: SECRETS["provider-a"],
        nowSeconds: Math.floor(Date.now() / 1000),
        eventId: `evt_${subscription}_${seats}`,
        subscriptionId: `sub_${subscription}`,
        customerId: `cus_${subscription}`,
        userId: `user_${subscription}`,
        planId: "team",
        priceId: "price_team_monthly",
        occurredAt: new Date(Date.UTC(2026, 0, 1) + seats * 60_000),
        currentPeriodEnd: new Date(Date.UTC(2030, 0, 1)),
        seats,
        status: "active",
      });
      const status = await deliverWebhook(url, "provider-a", delivery).then(
        (response) => response.status,
        () => null,
      );
      if (status === 200) seats += 1;
      return status === 200;
    },
  };
}

it(`loses, repeats and reorders no event over ${KILLS} kills, whatever other endpoints do`, {
  timeout: KILLS > STEPS.length ? 14_400_000 : 600_000,
}, async () => {
  const healthy = await endpoint(() => ({ status: 204 }));
  const slow = await endpoint(() => ({ status: 200, afterMs: 100 }));
  const failing = await endpoint((n) => ({ status: n % 3 === 0 ? 500 : 200 }));
  const silent = await endpoint(() => null);
  const served = [healthy, slow, failing];
  const providers = Array.from({ length: SUBSCRIPTIONS }, (_, index) => changing(index));

  for (let kill = 0; kill < KILLS; kill += 1) {
    const nth = 1 + (Math.floor(kill / STEPS.length) % 4);
    const crashAt = `${STEPS[kill % STEPS.length]}:${nth}`;
    await runUntilCrash(test.url, { ...VARIABLES, CRASH_AT: crashAt }, async (server) => {
      await Promise.all(providers.map((provider) => provider.send(server)));
      await sleep(20);
    });
    // As if the leases of the killed process, and the waits after failures, were over. No process is sending
    // now.
    await makeDue(served);
  }

  const server = await spawnServer(test.url, VARIABLES);
  for (const provider of providers) await eventually(() => provider.send(server), true);
  const changes = providers.reduce((sum, provider) => sum + provider.changes(), 0);
  const written = async () => (await eventsInOrder()).length;
  await eventually(written, changes);
  const missing = async () => {
    await makeDue([failing]);
    const events = await eventsInOrder();
    return served.map(({ accepted }) => {
      const acceptedIds = new Set(accepted);
      return events.filter(({ id }) => !acceptedIds.has(id)).length;
    });
  };
  await eventually(missing, [0, 0, 0], CATCH_UP_MS);
  const nothingPending = async () =>
    (
      await test.rows(
        "select from outbound_delivery where status = 'pending' and endpoint_id = any ($1::uuid[])",
        [[healthy.id, slow.id]],
      )
    ).length;
  await eventually(nothingPending, 0, CATCH_UP_MS);
  expect((await server.end("SIGTERM")).code).toBe(0);

  const events = await eventsInOrder();
  for (const [index, provider] of providers.entries()) {
    const ownEvents = events.filter(({ name }) => name === `sub_${index}`);
    // One event per change, each once, with what the change made of it.
    expect(ownEvents.map(({ seats }) => seats)).toEqual(
      Array.from({ length: provider.changes() }, (_, n) => 5 + n),
    );
    const ids = ownEvents.map(({ id }) => id);
    const knownIds = new Set(ids);
    for (const { accepted } of served) {
      expect([...new Set(accepted)].filter((id) => knownIds.has(id))).toEqual(ids);
    }
  }
  // Repeated only where a process was killed before it recorded the response.
  const repeats = healthy.accepted.length - new Set(healthy.accepted).size;
  expect(repeats).toBeLessThanOrEqual(KILLS * MAX_CONCURRENT);
  expect(silent.accepted).toEqual([]);
  await report("outbound", { kills: KILLS, changes, repeats, endpoints: 4, lost: 0, outOfOrder: 0 });
});

async function makeDue(endpoints: readonly Endpoint[]): Promise<void> {
  await test.rows(
    // Locked first, as the server does, which records several deliveries at once.
    `with locked as materialized (
       select id from event_endpoint where id = any ($1::uuid[]) order by id for no key update
     )
     update outbound_delivery d set next_attempt_at = clock_timestamp() from locked
     where d.status = 'pending' and d.next_attempt_at is not null and d.endpoint_id = locked.id`,
    [endpoints.map(({ id }) => id)],
  );
}

async function eventsInOrder(): Promise<{ id: string; name: string; seats: number }[]> {
  const events = (await storedEvents(test)).filter(({ type }) => type.startsWith("subscription."));
  return events.map(({ id, data }) => {
    const subscription = data.subscription as { providerSubscriptionId: string; seats: number };
    return { id, name: subscription.providerSubscriptionId, seats: subscription.seats };
  });
}
