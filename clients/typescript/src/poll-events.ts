import type { TollgateEvent } from "./event.ts";
import type { Connection } from "./options.ts";
import { sendRequest } from "./send-request.ts";
import { sleep } from "./sleep.ts";

export type PollOptions = {
  after: string | null;
  /** Without `after`, events before are left out. */
  startedAt: Date;
  pollEveryMs: number;
  signal: AbortSignal;
};

const PAGE = 100;

/**
 * Asks for new events again and again; `null` after each time that there were no more.
 * @throws TollgateError when a poll fails
 */
export async function* pollEvents(
  connection: Connection,
  { after, startedAt, pollEveryMs, signal }: PollOptions,
): AsyncGenerator<TollgateEvent | null> {
  let cursor = after;
  while (!signal.aborted) {
    const query = { limit: PAGE, ...(cursor === null ? {} : { after: cursor }) };
    const response = await sendRequest(connection, "GET", "/events", { query, signal });
    const { data, nextCursor } = (await response.json()) as { data: TollgateEvent[]; nextCursor: string };
    for (const event of data) {
      if (after !== null || new Date(event.occurredAt) >= startedAt) yield event;
    }
    cursor = nextCursor;
    if (data.length === PAGE) continue;
    yield null;
    await sleep(pollEveryMs, signal);
  }
}
