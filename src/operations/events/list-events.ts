import { z } from "zod";
import { outboundEvent } from "../../outbound/event-body.ts";
import { placeholderId } from "../../outbound/event-id.ts";
import type { EventReader } from "../../outbound/list-events-after.ts";
import { defineOperation } from "../operation.ts";
import { PAGE } from "../page.ts";
import { EventId, EventView, eventsAfter } from "./event-view.ts";

export const listEvents = defineOperation({
  name: "events.list",
  summary: "Lists events of the last 30 days, oldest first, for programs that poll",
  access: "service",
  permission: "events:read",
  limit: "service-key",
  input: z.strictObject({
    limit: PAGE.limit,
    after: EventId.nullable()
      .default(null)
      .describe(
        "The `nextCursor` of the previous response, or an event's id; omit it for the oldest events.",
      ),
  }),
  reasons: ["events_dropped"],
  output: z.object({
    items: z.array(EventView).describe("The items of this page."),
    nextCursor: z.string().describe("Never null: pass it later to get the events since."),
  }),
  run: async (deps: EventReader, _caller, { after, limit }) => {
    const { events, droppedUntil } = await eventsAfter(deps, after, limit);
    return {
      items: events.map(outboundEvent),
      nextCursor: events.at(-1)?.id ?? after ?? placeholderId(droppedUntil),
    };
  },
});
