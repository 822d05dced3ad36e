import { z } from "zod";
import { positionOfEvent } from "../../outbound/event-id.ts";
import type { Queryable } from "../../store/database.ts";
import { defineOperation } from "../operation.ts";
import { EventId, eventsAfter } from "./event-view.ts";

/** The position after which a stream begins. */
export type StreamStart = { position: bigint };

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
    return { position: after === null ? lastPosition : (positionOfEvent(after) as bigint) };
  },
});
