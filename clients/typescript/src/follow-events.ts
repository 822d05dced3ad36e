import type { TollgateEvent } from "./event.ts";
import { momentNow, msSince } from "./moment.ts";
import { openStream, type StreamDeadlines } from "./open-stream.ts";
import type { Connection } from "./options.ts";
import { pollEvents } from "./poll-events.ts";
import { sleep } from "./sleep.ts";
import { TollgateError } from "./tollgate-error.ts";

/** `waiting`: neither stream nor polls work at the moment. */
export type FeedState = "streaming" | "polling" | "waiting";

export type FollowOptions = {
  /** The id of the last event that you have processed; `null` or empty: events from now on. */
  after?: string | null;
  signal?: AbortSignal;
  /**
   * Called before the first of the events from now on, with the id to store as the last processed: events that
   * happen while the program is restarted come after it. Not called before the first event that the server ever had.
   */
  onStart?: (id: string) => void;
  /** Called when the state changes. `isContinuous`: no event has been missed since the feed began. */
  onState?: (state: FeedState, isContinuous: boolean) => void;
  /** Called with the error of each attempt that failed, before the next one: a wrong address shows only here. */
  onFailure?: (error: unknown) => void;
  timing?: Partial<Timing>;
};

type Timing = StreamDeadlines & {
  firstBackoffMs: number;
  maxBackoffMs: number;
  pollEveryMs: number;
  /** While polls stand in for the stream. */
  retryStreamEveryMs: number;
};

const TIMING: Timing = {
  firstByteMs: 10_000,
  silenceMs: 45_000,
  firstBackoffMs: 500,
  maxBackoffMs: 30_000,
  pollEveryMs: 5_000,
  retryStreamEveryMs: 60_000,
};

/** Streams that break off in a row before events are polled. */
const FAILURES_BEFORE_POLLS = 2;

/**
 * Events as they happen, each at least once and those of a subscription in order: by the event stream, which
 * is opened again after the last event whenever it ends; where streams do not get through, by polls. Needs a
 * service key with `events:read`. Ends when the signal aborts.
 * @throws TollgateError when the key is refused, or `events_dropped` when `after` is older than 30 days
 */
export async function* followEvents(
  connection: Connection,
  options: FollowOptions = {},
): AsyncGenerator<TollgateEvent> {
  const { after, signal = new AbortController().signal, onStart, onState, onFailure } = options;
  const timing = { ...TIMING, ...options.timing };
  const startedAt = momentNow();
  let last = after || null;
  /** Of streams, in a row. */
  let failures = 0;
  let outages = 0;
  let state: FeedState | null = null;
  const enter = (next: FeedState, isContinuous: boolean) => {
    if (next !== state || !isContinuous) onState?.(next, isContinuous);
    state = next;
  };
  const advance = (id: string, event: TollgateEvent | null) => {
    if (last === null && event === null) onStart?.(id);
    last = id;
  };

  async function* stream(): AsyncGenerator<TollgateEvent> {
    const isContinuous = last !== null;
    let isOpen = false;
    for await (const { id, event } of openStream(connection, last, timing, signal)) {
      failures = 0;
      outages = 0;
      if (!isOpen) enter("streaming", isContinuous);
      isOpen = true;
      // Also before the first event: none is missed when the stream is opened again.
      if (id !== "") advance(id, event);
      if (event !== null) yield event;
    }
  }
  async function* poll(): AsyncGenerator<TollgateEvent> {
    const begunAt = momentNow();
    // Events from while the machine slept may be missing before the first poll.
    let isContinuous = last !== null;
    const polling = pollEvents(connection, { after: last, startedAt, signal, ...timing });
    for await (const { id, event } of polling) {
      enter("polling", isContinuous);
      isContinuous = true;
      advance(id, event);
      if (event !== null) yield event;
      else if (msSince(begunAt) >= timing.retryStreamEveryMs) return;
    }
  }

  while (!signal.aborted) {
    const isPolling = failures >= FAILURES_BEFORE_POLLS;
    let failure: unknown;
    try {
      yield* isPolling ? poll() : stream();
      // The next stream that breaks off leads back to polls at once.
      if (isPolling) {
        failures -= 1;
        continue;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (isPermanent(error)) throw error;
      onFailure?.(error);
      failure = error;
      failures = isPolling ? 0 : failures + 1;
      if (failures >= FAILURES_BEFORE_POLLS) continue;
    }
    outages = failure === undefined ? 0 : outages + 1;
    enter("waiting", true);
    await sleep(backoffMs(outages, failure, timing), signal);
  }
}

/** @param outages attempts that failed in a row; 0: the server ended a stream that worked */
function backoffMs(outages: number, error: unknown, { firstBackoffMs, maxBackoffMs }: Timing): number {
  const backoff = Math.min(maxBackoffMs, firstBackoffMs * 2 ** Math.min(outages, 10));
  const retryAfterMs = error instanceof TollgateError ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
  // Clients that lost the same server, or that it refuses, must not come back at the same moment.
  const random = Math.random();
  return Math.max(retryAfterMs + firstBackoffMs * random, backoff * (0.5 + random / 2));
}

/** What another attempt would be refused with, too. */
function isPermanent(error: unknown): boolean {
  return (
    error instanceof TollgateError && error.status !== null && [400, 401, 403, 410].includes(error.status)
  );
}
