import { z } from "zod";
import { OUTBOUND_EVENT_TYPES } from "../../domain/outbound/outbound-event.ts";
import { notFound } from "../../domain/refusals/refusal.ts";
import type { Queryable } from "../../store/database.ts";
import { findEndpoint } from "../../store/outbound/event-endpoints.ts";
import { listOutboundDeliveries } from "../../store/outbound/list-outbound-deliveries.ts";
import { defineOperation } from "../operation.ts";
import { cutPageById, IdCursor, PAGE, pageOf } from "../page.ts";
import { EndpointId } from "./endpoint-view.ts";

const STATUSES = ["pending", "delivered", "failed"] as const;

const OutboundDelivery = z
  .object({
    id: z.string().describe("The delivery's id."),
    eventId: z.string().describe("The event's id."),
    eventType: z.enum(OUTBOUND_EVENT_TYPES).describe("The event's type."),
    status: z.enum(STATUSES).describe("`pending`: not delivered yet; `failed`: given up."),
    createdAt: z.date().describe("When the event happened."),
    completedAt: z.date().nullable().describe("When it was delivered or given up; `null`: not yet."),
    nextAttemptAt: z
      .date()
      .nullable()
      .describe("When it is sent next; `null` while an earlier event is retried, and once it is done."),
    attempts: z
      .array(
        z.object({
          attempt: z.int().describe("Its number, from 1."),
          at: z.date().describe("When it was made."),
          durationMs: z.number().describe("How long it took, in milliseconds."),
          responseStatus: z
            .int()
            .nullable()
            .describe("The response's status; `null`: there was no response."),
          error: z.string().nullable().describe("Why it failed, as one English sentence; `null`: delivered."),
        }),
      )
      .describe("Every attempt, oldest first."),
  })
  .meta({ id: "OutboundDelivery", description: "An event as sent to one endpoint, with each attempt." });

export type OutboundDelivery = z.output<typeof OutboundDelivery>;

export const listEndpointDeliveries = defineOperation({
  name: "eventEndpoints.deliveries",
  summary: "Lists deliveries to an endpoint with their attempts, newest first",
  access: "admin",
  limit: "admin",
  input: z.strictObject({
    ...PAGE,
    id: EndpointId,
    cursor: IdCursor,
    status: z.enum(STATUSES).nullable().default(null).describe("Only deliveries with this status."),
  }),
  reasons: ["not_found"],
  output: pageOf(OutboundDelivery),
  run: async (deps: { database: Queryable }, _caller, { id, cursor, limit, status }) => {
    if ((await findEndpoint(deps.database, id)) === null) notFound("event_endpoint");
    const page = { before: cursor, limit: limit + 1, status };
    const rows = await listOutboundDeliveries(deps.database, id, page);
    return cutPageById(rows, limit);
  },
});
