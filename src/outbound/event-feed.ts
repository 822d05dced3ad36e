import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "../store/database.ts";
import type { EventList } from "../store/outbound/outbound-list.ts";
import { outboundEvent } from "./event-body.ts";
import { placeholderId, positionOfEvent } from "./event-id.ts";
import { type EventReader, listEventsAfter } from "./list-events-after.ts";

/** `body`: the event as JSON, on one line. */
type StreamedEvent = { id: string; type: string; body: string };

export type EventFeed = {
  /**
   * The next events after the one with this id, oldest first; waits until there are some. `null`: the feed or
   * the signal has stopped, or none can follow it, see `readAfter`.
   */
  after(id: string, signal: AbortSignal): Promise<readonly StreamedEvent[] | null>;
  /** Whether anybody waits, or has waited until a moment ago. */
  isPolling(): boolean;
  /** Ends everything that waits. */
  stop(): void;
};

type FeedOptions = {
  database: Database;
  log: EventReader["log"] & { warn(facts: object, message: string): void };
  everyMs?: number;
};

const EVERY_MS = 200;
const BATCH = 100;

/** The events that were polled last: those that follow the one with the id `after`. */
type Polled = { after: string; events: readonly StreamedEvent[] };

/**
 * Reads new events once for all streams of a process, while any of them waits. A stream that is behind reads
 * by itself, so that a slow client needs no memory here.
 */
export function createEventFeed({ database, log, everyMs = EVERY_MS }: FeedOptions): EventFeed {
  const waiting = new Set<() => void>();
  const stopping = new AbortController();
  let polled: Polled | null = null;
  let isPolling = false;

  /**
   * `null`: this event is no longer kept, or a failover has lost it; its position may be another one's now.
   */
  const readAfter = async (id: string): Promise<StreamedEvent[] | null> => {
    const position = positionOfEvent(id);
    const list = await listEventsAfter({ database, log }, { after: position, limit: BATCH });
    return list.afterId === id || list.isAfterUnknown ? toStreamedEvents(list.events) : null;
  };
  const poll = async (): Promise<boolean> => {
    if (polled === null) {
      polled = { after: await newestEventId({ database, log }), events: [] };
      wakeAll();
      return false;
    }
    const after: string = polled.events.at(-1)?.id ?? polled.after;
    const events = await readAfter(after);
    if (events?.length === 0) return false;
    polled = events && { after, events };
    wakeAll();
    return events?.length === BATCH;
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
    after: async (id, signal) => {
      const isOver = () => stopping.signal.aborted || signal.aborted;
      while (!isOver()) {
        const latest: Polled | null = polled;
        const events = (latest && polledAfter(latest, id)) ?? (await readAfter(id));
        if (events === null || events.length > 0) return events;
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

/** The id of the newest event; a placeholder if it is no longer kept, or there has been none. */
export async function newestEventId(deps: EventReader): Promise<string> {
  const { lastPosition } = await listEventsAfter(deps, { after: null, limit: 0 });
  const { afterId } = await listEventsAfter(deps, { after: lastPosition, limit: 0 });
  return afterId ?? placeholderId(lastPosition);
}

/** `null`: the event with this id is not among them. */
function polledAfter({ after, events }: Polled, id: string): readonly StreamedEvent[] | null {
  if (id === after) return events;
  const index = events.findIndex((event) => event.id === id);
  return index === -1 ? null : events.slice(index + 1);
}

function toStreamedEvents(events: EventList["events"]): StreamedEvent[] {
  return events.map((event) => ({
    id: event.id,
    type: event.type,
    body: JSON.stringify(outboundEvent(event)),
  }));
}
