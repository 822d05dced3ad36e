import { z } from "zod";
import { newestEventId } from "../../outbound/event-feed.ts";
import type { Queryable } from "../../store/database.ts";
import { defineOperation } from "../operation.ts";
import { EventId, eventsAfter } from "./event-view.ts";

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
  output: z.object({
    after: z.string().describe("The id of the event after which the stream begins."),
    isGiven: z.boolean().describe("Whether the reader has named it."),
  }),
  run: async ({ database }: { database: Queryable }, _caller, { after }) => {
    if (after === null) return { after: await newestEventId(database), isGiven: false };
    await eventsAfter(database, after, 0);
    return { after, isGiven: true };
  },
});
