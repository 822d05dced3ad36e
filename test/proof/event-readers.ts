import { setTimeout as sleep } from "node:timers/promises";
import { openEventStream } from "../support/event-stream.ts";

export type EventReaders = {
  /** The ids that each reader has received, in the order in which they came. */
  ids(): string[][];
  /** Milliseconds from a change to its event's arrival. */
  delaysMs: number[];
  reconnects(): number;
  stop(): Promise<void>;
};

const LOOK_EVERY_MS = 100;

/** Programs that read `GET /api/events/stream`, and continue after the last event when the stream breaks. */
export async function startEventReaders(
  serverUrl: string,
  key: string,
  count: number,
): Promise<EventReaders> {
  const delaysMs: number[] = [];
  let reconnects = 0;
  let isOver = false;
  const readers = await Promise.all(
    Array.from({ length: count }, async () => {
      const ids: string[] = [];
      let stream = await open(serverUrl, key);
      const keepReading = async () => {
        for (;;) {
          // Before it is emptied: what came last must not be left behind.
          const isEnded = stream.isEnded();
          for (const { id, data } of stream.events.splice(0)) {
            ids.push(id);
            delaysMs.push(Date.now() - Date.parse(JSON.parse(data).occurredAt));
          }
          if (isOver) return stream.close();
          if (!isEnded) await sleep(LOOK_EVERY_MS);
          else if (await sleep(LOOK_EVERY_MS, true)) {
            const reopened = await open(serverUrl, key, ids.at(-1)).catch(() => null);
            if (reopened) reconnects += 1;
            stream = reopened ?? stream;
          }
        }
      };
      return { ids, reading: keepReading() };
    }),
  );
  return {
    ids: () => readers.map(({ ids }) => ids),
    delaysMs,
    reconnects: () => reconnects,
    stop: async () => {
      isOver = true;
      await Promise.all(readers.map(({ reading }) => reading));
    },
  };
}

function open(serverUrl: string, key: string, lastEventId?: string) {
  const headers: Record<string, string> = lastEventId === undefined ? {} : { "last-event-id": lastEventId };
  return openEventStream(`${serverUrl}/api/events/stream`, key, headers);
}
