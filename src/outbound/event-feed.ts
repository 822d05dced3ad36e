import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "../store/database.ts";
import { type EventList, readEvents } from "../store/outbound-list.ts";
import { outboundEvent } from "./event-body.ts";

/** `body`: the event as JSON, on one line. */
type StreamedEvent = { position: bigint; id: string; type: string; body: string };

export type EventFeed = {
  /**
   * The next events after a position, oldest first; waits until there are some. `null`: the feed or the
   * signal has stopped, or they are no longer kept.
   */
  after(position: bigint, signal: AbortSignal): Promise<readonly StreamedEvent[] | null>;
  /** Whether anybody waits, or has waited until a moment ago. */
  isPolling(): boolean;
  /** Ends everything that waits. */
  stop(): void;
};

type FeedOptions = {
  database: Database;
  log: { warn(facts: object, message: string): void };
  everyMs?: number;
};

const EVERY_MS = 200;
const BATCH = 100;

/** The events that were polled last: all those after `from`, up to `until`. */
type Polled = { from: bigint; until: bigint; events: readonly StreamedEvent[] };

/**
 * Reads new events once for all streams of a process, while any of them waits. A stream that is behind reads
 * by itself, so that a slow client needs no memory here.
 */
export function createEventFeed({ database, log, everyMs = EVERY_MS }: FeedOptions): EventFeed {
  const waiting = new Set<() => void>();
  const stopping = new AbortController();
  let polled: Polled | null = null;
  let isPolling = false;

  const poll = async (): Promise<boolean> => {
    if (polled === null) {
      const { lastPosition } = await readEvents(database, { after: null, limit: 0 });
      polled = { from: lastPosition, until: lastPosition, events: [] };
      wakeAll();
      return false;
    }
    const from: bigint = polled.until;
    const { events, lastPosition } = await readEvents(database, { after: from, limit: BATCH });
    if (lastPosition < from) {
      polled = null;
      wakeAll();
      return false;
    }
    const last = events.at(-1);
    if (last === undefined) return false;
    polled = { from, until: last.position, events: toStreamedEvents(events) };
    wakeAll();
    return events.length === BATCH;
  };
  const pollWhileAwaited = async () => {
    if (isPolling) return;
    isPolling = true;
    let isFailing = false;
    while (waiting.size > 0) {
      let hasMore = false;
      try {
        hasMore = await poll();
        isFailing = false;
      } catch (err) {
        if (!isFailing) log.warn({ err }, "event streams wait: they continue once the database answers");
        isFailing = true;
      }
      if (!hasMore) await sleep(everyMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
    // Not kept: by the time somebody waits again they may be far behind, and their users deleted.
    polled = null;
    isPolling = false;
  };
  const wakeAll = () => {
    for (const wake of [...waiting]) wake();
  };
  const nextPoll = (signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      const wake = () => {
        waiting.delete(wake);
        signal.removeEventListener("abort", wake);
        resolve();
      };
      waiting.add(wake);
      signal.addEventListener("abort", wake);
      void pollWhileAwaited();
    });

  return {
    after: async (position, signal) => {
      const isOver = () => stopping.signal.aborted || signal.aborted;
      while (!isOver()) {
        const latest: Polled | null = polled;
        if (latest !== null && position >= latest.from && position < latest.until)
          return latest.events.filter((event) => event.position > position);
        if (latest === null || position < latest.from) {
          const { events, droppedUntil, lastPosition } = await readEvents(database, {
            after: position,
            limit: BATCH,
          });
          // Beyond the last position: a failover has lost the events that the stream has sent.
          if (position < droppedUntil || position > lastPosition) return null;
          if (events.length > 0) return toStreamedEvents(events);
        }
        // Nothing may be awaited between this check and the wait: a poll in between would not wake it.
        if (!isOver() && polled === latest) await nextPoll(signal);
      }
      return null;
    },
    isPolling: () => isPolling,
    stop: () => {
      stopping.abort();
      wakeAll();
    },
  };
}

function toStreamedEvents(events: EventList["events"]): StreamedEvent[] {
  return events.map((event) => {
    const { position, id, type } = event;
    return { position, id, type, body: JSON.stringify(outboundEvent(event)) };
  });
}
