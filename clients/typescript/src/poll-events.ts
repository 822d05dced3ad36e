import type { TollgateEvent } from "./event.ts";
import { type Moment, steadyMsSince } from "./moment.ts";
import type { Connection } from "./options.ts";
import { readJson } from "./read-json.ts";
import { sendRequest } from "./send-request.ts";
import { sleep } from "./sleep.ts";

export type PollOptions = {
  after: string | null;
  /** Without `after`, events from before are left out. */
  startedAt: Moment;
  pollEveryMs: number;
  signal: AbortSignal;
};

const PAGE = 100;
const MAX_CLOCK_OFFSET_MS = 2_000;

/**
 * Asks for new events again and again. Without an event before the first of those from now on, and each time that
 * there were no more: `id` is where the next one follows.
 * @throws TollgateError when a poll fails
 */
export async function* pollEvents(
  connection: Connection,
  { after, startedAt, pollEveryMs, signal }: PollOptions,
): AsyncGenerator<{ id: string; event: TollgateEvent | null }> {
  let cursor = after;
  let isCaughtUp = after !== null;
  /** The last event before those from now on. */
  let leftOut: string | null = null;
  while (!signal.aborted) {
    const query = { limit: PAGE, ...(cursor === null ? {} : { after: cursor }) };
    const response = await sendRequest(connection, "GET", "/events", { query, signal });
    const { data, nextCursor } = await readJson<{ data: TollgateEvent[]; nextCursor: string }>(response);
    // Independent of the time of day, which may be set after the start, as at boot.
    const startedAtMs = timeAt(response) - steadyMsSince(startedAt);
    for (const event of data) {
      if (!isCaughtUp && Date.parse(event.occurredAt) < startedAtMs) {
        leftOut = event.id;
        continue;
      }
      if (leftOut !== null) yield { id: leftOut, event: null };
      leftOut = null;
      yield { id: event.id, event };
    }
    cursor = nextCursor;
    if (data.length === PAGE) continue;
    isCaughtUp = true;
    leftOut = null;
    yield { id: nextCursor, event: null };
    await sleep(pollEveryMs, signal);
  }
}

/**
 * When the response was sent, by the server's clock, which is close to that of the database, which dates the events.
 * The header names only the second, and browsers hide it: our clock is used unless the header shows it to be off.
 */
function timeAt({ headers }: Response): number {
  const now = Date.now();
  const sentMs = Date.parse(headers.get("date") ?? "");
  return Math.abs(now - sentMs) > MAX_CLOCK_OFFSET_MS ? sentMs : now;
}
