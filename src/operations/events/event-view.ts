import { z } from "zod";
import { OUTBOUND_EVENT_TYPES } from "../../domain/outbound/outbound-event.ts";
import { format } from "../../domain/refusals/invalid-input.ts";
import { refuse } from "../../domain/refusals/refusal.ts";
import { EVENT_ID, positionOfEvent } from "../../outbound/event-id.ts";
import { type EventReader, listEventsAfter } from "../../outbound/list-events-after.ts";
import type { EventList } from "../../store/outbound/outbound-list.ts";

/** An event as it is sent to endpoints. */
export const EventView = z
  .object({
    id: z.string().describe("The event's id, the same in every attempt to deliver it."),
    type: z.enum(OUTBOUND_EVENT_TYPES).describe("The type of the event."),
    occurredAt: z.date().describe("When it happened."),
    version: z.string().describe("The version of the REST API whose shapes `data` has."),
    data: z
      .record(z.string(), z.unknown())
      .describe("The object of the event, depending on `type`; see `webhooks`."),
  })
  .meta({ id: "OutboundEvent", description: "A change, as it is sent to event endpoints." });

export const EventId = z.string().regex(EVENT_ID, format("event_id"));

/**
 * The events after the one with this id. @throws Refusal `events_dropped`; `invalid_input` for an unknown id
 */
export async function eventsAfter(deps: EventReader, id: string | null, limit: number): Promise<EventList> {
  const after = id === null ? null : positionOfEvent(id);
  const list = await listEventsAfter(deps, { after, limit });
  if (after === null) return list;
  if (after < list.droppedUntil) refuse({ reason: "events_dropped" });
  // Where only the position is known, no event after it is missing.
  if (!list.isAfterUnknown && list.afterId !== id)
    refuse({
      reason: "invalid_input",
      params: { problem: "malformed", format: "event_id" },
      field: "after",
    });
  return list;
}
