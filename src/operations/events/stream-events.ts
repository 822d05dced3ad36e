import { z } from "zod";
import { placeholderId, positionOfEvent } from "../../outbound/event-id.ts";
import type { Queryable } from "../../store/database.ts";
import { readEvents } from "../../store/outbound-list.ts";
import { defineOperation } from "../operation.ts";
import { EventId, eventsAfter } from "./event-view.ts";

/** A stream begins after this position. `id`: of the event there; `null` if the reader has named it. */
export type StreamStart = { position: bigint; id: string | null };

export const streamEvents = defineOperation({
  name: "events.stream",
  summary: "Streams events as they happen, as server-sent events",
  access: "service",
  permission: "events:read",
  limit: "service-key",
  input: z.strictObject({
    after: EventId.nullable()
      .default(null)
      .describe("Start after this event; if omitted, with the next one. `Last-Event-ID` takes precedence."),
  }),
  reasons: ["events_dropped"],
  output: z.custom<StreamStart>(),
  run: async ({ database }: { database: Queryable }, _caller, { after }) => {
    const { lastPosition } = await eventsAfter(database, after, 0);
    if (after !== null) return { position: positionOfEvent(after) as bigint, id: null };
    const { afterId } = await readEvents(database, { after: lastPosition, limit: 0 });
    return { position: lastPosition, id: afterId ?? placeholderId(lastPosition) };
  },
});
