import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished } from "vitest";
import { numberedEvent } from "../fixtures/numbered-event.ts";
import { eventually } from "../support/eventually.ts";
import { deliverWebhook } from "../support/http.ts";
import { expectEachAppliedOnce } from "../support/ledger.ts";
import { eachStoredEvent } from "../support/stored-events.ts";
import { isFullProof, READ_EVENTS_EVERY_MS } from "./proof.ts";

/**
 * How one delivery of an event ended: with a status, or without a response, so that its outcome is unknown.
 */
type Answer = number | "unknown";

/** Everything that happened to the events of a run, for checking afterwards. */
export type History = {
  /** By the number of the event, in the order in which its deliveries were sent. */
  answers: Answer[][];
  acknowledgedAtMs: number[];
};

export type EventLoad = {
  history: History;
  acknowledged(): number;
  /** Resolves once this many more events are acknowledged. */
  more(count: number): Promise<void>;
  /**
   * Milliseconds from a moment (of `performance.now()`) to the first acknowledgement after it of an event
   * sent after it.
   */
  untilAcknowledgedMs(sinceMs: number): Promise<number>;
  /** Sends no new events; resolves once every event that was sent is acknowledged. */
  stop(): Promise<History>;
};

/** Whose subscriptions the events create: with fewer, each would have more in a full run than anybody has. */
export const LOAD_USERS = isFullProof ? 2_000 : 20;

const TICK_MS = 20;
const MAX_UNACKNOWLEDGED = 400;

/**
 * Plays the providers: new events at a steady rate, each delivered to one address after the other until it is
 * acknowledged. Slows down while nothing is acknowledged.
 * @param eventOf signs event `n` anew each time that it is sent
 */
export function startEventLoad(
  urls: readonly string[],
  run: string,
  perSecond: number,
  eventOf = (n: number) => numberedEvent(run, n, LOAD_USERS),
): EventLoad {
  const history: History = { answers: [], acknowledgedAtMs: [] };
  const sentAtMs: number[] = [];
  let acknowledged = 0;
  let isStopping = false;
  let isAbandoned = false;
  // A test that has failed must not load those after it.
  onTestFinished(() => {
    isStopping = true;
    isAbandoned = true;
  });
  let latestMs = Number.NEGATIVE_INFINITY;

  const deliver = async (n: number, answers: Answer[]): Promise<void> => {
    for (let attempt = 0; !isAbandoned; attempt += 1) {
      const url = urls[(n + attempt) % urls.length] as string;
      const answer = await deliverWebhook(url, "provider-a", eventOf(n)).then(
        ({ status }) => status,
        (): Answer => "unknown",
      );
      answers.push(answer);
      if (answer === 200) break;
      await sleep(50 + Math.random() * 100);
    }
    acknowledged += 1;
    history.acknowledgedAtMs[n] = performance.now();
    latestMs = Math.max(latestMs, sentAtMs[n] as number);
  };
  const deliveries: Promise<void>[] = [];
  const sendDue = async () => {
    let owed = 0;
    let tickedAt = performance.now();
    while (!isStopping) {
      await sleep(TICK_MS);
      const now = performance.now();
      owed = Math.min(owed + ((now - tickedAt) * perSecond) / 1000, perSecond);
      tickedAt = now;
      for (; owed >= 1 && sentAtMs.length - acknowledged < MAX_UNACKNOWLEDGED; owed -= 1) {
        const n = sentAtMs.push(performance.now()) - 1;
        const answers: Answer[] = [];
        history.answers.push(answers);
        deliveries.push(deliver(n, answers));
      }
    }
  };
  const sending = sendDue();

  return {
    history,
    acknowledged: () => acknowledged,
    more: async (count) => {
      const enough = acknowledged + count;
      await eventually(async () => acknowledged >= enough, true, 180_000);
    },
    untilAcknowledgedMs: async (sinceMs) => {
      await eventually(async () => latestMs > sinceMs, true, 180_000);
      const after = history.acknowledgedAtMs.filter((_, n) => (sentAtMs[n] as number) > sinceMs);
      return Math.round(after.reduce((least, at) => Math.min(least, at), Number.POSITIVE_INFINITY) - sinceMs);
    },
    stop: async () => {
      isStopping = true;
      await sending;
      await Promise.all(deliveries);
      return history;
    },
  };
}

type Rows = { rows<Row>(text: string, values?: readonly unknown[]): Promise<Row[]> };

/**
 * Every event that got a 200 is in the log once and was applied once, with one outbound event; and there is
 * none that was never sent. For a load that was stopped, so that all its events are acknowledged.
 */
export async function expectHistoryKept(
  database: Rows,
  run: string,
  history: History,
  expected: readonly Answer[] = [200, 502, 503, "unknown"],
): Promise<void> {
  expect(history.answers.filter((answers) => answers.at(-1) !== 200)).toEqual([]);
  const strange = history.answers.flat().filter((answer) => !expected.includes(answer));
  expect(strange).toEqual([]);
  await expectEachAppliedOnce(database, run, history.answers.length);
  // They are made after the commit.
  const announced = async () => {
    await sleep(READ_EVENTS_EVERY_MS);
    const names: string[] = [];
    for await (const { type, data } of eachStoredEvent(database)) {
      if (type === "subscription.started" && nameOf(data).startsWith(`${run}-`)) names.push(nameOf(data));
    }
    return { events: names.length, subscriptions: new Set(names).size };
  };
  await eventually(
    announced,
    { events: history.answers.length, subscriptions: history.answers.length },
    600_000,
  );
}

function nameOf(data: Record<string, unknown>): string {
  return (data.subscription as { providerSubscriptionId: string }).providerSubscriptionId;
}

/** What a report says of a history. */
export function historyFigures({ answers }: History) {
  const all = answers.flat();
  const count = (kind: Answer) => all.filter((answer) => answer === kind).length;
  return { events: answers.length, deliveries: all.length, "503": count(503), unknown: count("unknown") };
}
