import { setTimeout as sleep } from "node:timers/promises";
import { SLOTS, type Slot } from "../../../src/domain/slot.ts";
import type { SimulatedEvent } from "../../../src/simulator/server/start-simulator.ts";
import { type Downtime, toldAtMs, uptimeMs } from "./deadlines.ts";
import { findDifferences } from "./differences.ts";
import type { Shop } from "./shop.ts";

type Watched = {
  slot: Slot;
  id: string;
  /** Set once its customer will change nothing any more. */
  isDone: boolean;
  /** When the provider ended it. */
  endedAtMs: number | null;
  /** Since when it has been seen to match. */
  matchesSinceMs: number | null;
  /** When it was last seen to give access after its end. */
  accessUntilMs: number | null;
};

/** For one subscription, in milliseconds in which the server ran. */
export type Delay = {
  id: string;
  /** From when the server had been told of all its events until it matched. */
  matchedAfterMs: number;
  /**
   * From when the server had been told of its end until it gave no access any more; `null`: it has not ended.
   */
  accessEndedAfterMs: number | null;
  /** Whether a sweep had to find its last event. */
  isSwept: boolean;
  /** Whether the server was killed meanwhile, or shortly before. */
  isInterrupted: boolean;
};

export type Watch = {
  add(slot: Slot, id: string): Watched;
  /** Waits until all match. */
  stop(): Promise<Delay[]>;
};

const POLL_EVERY_MS = 200;
/** How long before a delivery a kill still delays what follows it: leases run out, retries wait. */
const SHORTLY_MS = 10_000;
/** What the last event may still change for a moment: one that arrives late flags its subscription. */
const SETTLES_WITHIN_MS = 5_000;
const MATCH_WITHIN_MS = 300_000;

/** Polls the subscriptions several times a second until they match. */
export function watchSubscriptions(shop: Shop): Watch {
  const all: Watched[] = [];
  let open: Watched[] = [];
  let giveUpAtMs = Number.POSITIVE_INFINITY;
  const isOver = () =>
    giveUpAtMs < Number.POSITIVE_INFINITY && (open.length === 0 || Date.now() > giveUpAtMs);

  const poll = async () => {
    // Taken before the queries: later changes are seen by the next poll.
    const eventsOf = eventsBySubscription(shop);
    const polledAtMs = Date.now();
    const isTold = ({ id, isDone }: Watched) =>
      isDone && toldAtMs(eventsOf.get(id) ?? []) + SETTLES_WITHIN_MS < polledAtMs;
    // Meanwhile more are added.
    const watchedNow = [...open];
    const notified = new Set(watchedNow.filter(isTold));
    const ids = new Set(watchedNow.map(({ id }) => id));
    const different = new Set(
      (await findDifferences(shop, ids)).map(({ expected }) => expected.providerSubscriptionId),
    );
    const withAccess = await findWithAccess(shop, ids);
    const nowMs = Date.now();
    for (const watched of watchedNow) {
      if (different.has(watched.id)) watched.matchesSinceMs = null;
      else watched.matchesSinceMs ??= nowMs;
      if (watched.endedAtMs !== null && withAccess.has(watched.id)) watched.accessUntilMs = nowMs;
    }
    open = open.filter((watched) => !notified.has(watched) || watched.matchesSinceMs === null);
  };
  const polling = (async () => {
    for (; !isOver(); await sleep(POLL_EVERY_MS)) await poll();
  })();
  return {
    add: (slot, id) => {
      const watched: Watched = {
        slot,
        id,
        isDone: false,
        endedAtMs: null,
        matchesSinceMs: null,
        accessUntilMs: null,
      };
      all.push(watched);
      open.push(watched);
      return watched;
    },
    stop: async () => {
      giveUpAtMs = Date.now() + MATCH_WITHIN_MS;
      await polling;
      if (open.length > 0) {
        const differences = await findDifferences(shop, new Set(open.map(({ id }) => id)));
        throw new Error(`${open.length} do not match, one of them: ${JSON.stringify(differences[0])}`);
      }
      const eventsOf = eventsBySubscription(shop);
      return all.map((watched) => delayOf(watched, eventsOf.get(watched.id) ?? [], shop.downtimes));
    },
  };
}

function eventsBySubscription({ sim }: Shop): Map<string, SimulatedEvent[]> {
  return Map.groupBy(
    SLOTS.flatMap((slot) => sim.events(slot)),
    ({ subscriptionId }) => subscriptionId,
  );
}

async function findWithAccess({ test }: Shop, ids: ReadonlySet<string>): Promise<Set<string>> {
  const rows = await test.rows<{ id: string }>(
    `select provider_subscription_id as id from subscription
     where provider_subscription_id = any ($1::text[]) and status in ('active', 'trialing', 'past_due')`,
    [[...ids]],
  );
  return new Set(rows.map(({ id }) => id));
}

function delayOf(
  { id, endedAtMs, matchesSinceMs, accessUntilMs }: Watched,
  events: readonly SimulatedEvent[],
  downtimes: readonly Downtime[],
): Delay {
  const toldMs = toldAtMs(events);
  const matchedMs = matchesSinceMs ?? Number.POSITIVE_INFINITY;
  const toldOfEndMs =
    endedAtMs === null ? null : toldAtMs(events.filter(({ madeAtMs }) => madeAtMs <= endedAtMs));
  const isReceived = ({ tries }: SimulatedEvent) => tries.some(({ wasTaken }) => wasTaken);
  return {
    id,
    isSwept: toldMs > toldAtMs(events.filter(isReceived)),
    matchedAfterMs: uptimeMs(toldMs, matchedMs, downtimes),
    accessEndedAfterMs: toldOfEndMs === null ? null : uptimeMs(toldOfEndMs, accessUntilMs ?? 0, downtimes),
    isInterrupted: downtimes.some(
      ({ fromMs, untilMs }) => fromMs <= matchedMs && untilMs >= (toldOfEndMs ?? toldMs) - SHORTLY_MS,
    ),
  };
}
