import { z } from "zod";
import { newestEventId } from "../../outbound/event-feed.ts";
import type { EventReader } from "../../outbound/list-events-after.ts";
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
  run: async (deps: EventReader, _caller, { after }) => {
    if (after === null) return { after: await newestEventId(deps), isGiven: false };
    await eventsAfter(deps, after, 0);
    return { after, isGiven: true };
  },
});
