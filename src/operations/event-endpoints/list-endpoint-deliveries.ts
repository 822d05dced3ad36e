import { z } from "zod";
import { format } from "../../domain/invalid-input.ts";
import { OUTBOUND_EVENT_TYPES } from "../../domain/outbound-event.ts";
import type { Queryable } from "../../store/database.ts";
import { findEndpoint } from "../../store/event-endpoints.ts";
import { listOutboundDeliveries } from "../../store/list-outbound-deliveries.ts";
import { defineOperation } from "../operation.ts";
import { PAGE, pageOf } from "../page.ts";
import { noSuchEndpoint } from "./endpoint-view.ts";

const STATUSES = ["pending", "delivered", "failed"] as const;

const OutboundDelivery = z
  .object({
    id: z.string(),
    eventId: z.string(),
    eventType: z.enum(OUTBOUND_EVENT_TYPES),
    status: z.enum(STATUSES),
    createdAt: z.date(),
    completedAt: z.date().nullable(),
    nextAttemptAt: z
      .date()
      .nullable()
      .describe("`null` while an earlier event is retried, and once it is done."),
    attempts: z.array(
      z.object({
        attempt: z.int(),
        at: z.date(),
        durationMs: z.number(),
        responseStatus: z.int().nullable(),
        error: z.string().nullable(),
      }),
    ),
  })
  .meta({ id: "OutboundDelivery" });

export type OutboundDelivery = z.output<typeof OutboundDelivery>;

export const OutboundDeliveryId = z.string().regex(/^[1-9]\d{0,17}$/, format("number_id"));

export const listEndpointDeliveries = defineOperation({
  name: "eventEndpoints.deliveries",
  summary: "What was sent to an endpoint, newest first, with each attempt",
  access: "admin",
  limit: "admin",
  input: z.strictObject({
    ...PAGE,
    id: z.uuid(),
    cursor: OutboundDeliveryId.nullable().default(null),
    status: z.enum(STATUSES).nullable().default(null),
  }),
  reasons: ["not_found"],
  output: pageOf(OutboundDelivery),
  run: async (deps: { database: Queryable }, _caller, { id, cursor, limit, status }) => {
    if ((await findEndpoint(deps.database, id)) === null) noSuchEndpoint();
    const page = { before: cursor, limit: limit + 1, status };
    const rows = await listOutboundDeliveries(deps.database, id, page);
    const items = rows.slice(0, limit);
    return { items, nextCursor: rows.length > limit ? (items.at(-1)?.id ?? null) : null };
  },
});
