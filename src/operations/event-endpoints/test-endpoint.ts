import { randomBytes } from "node:crypto";
import { z } from "zod";
import { OUTBOUND_EVENT_TYPES } from "../../domain/outbound/outbound-event.ts";
import { notFound } from "../../domain/refusals/refusal.ts";
import type { Tracing } from "../../domain/tracing.ts";
import type { OutboundAllow } from "../../outbound/allowed-targets.ts";
import { outboundEvent } from "../../outbound/event-body.ts";
import { exampleData } from "../../outbound/example-data.ts";
import { postEvent } from "../../outbound/post-event.ts";
import { withAudit } from "../../store/audit/with-audit.ts";
import type { Database } from "../../store/database.ts";
import { findEndpoint, findEndpointTarget } from "../../store/outbound/event-endpoints.ts";
import { recordTest } from "../../store/outbound/record-outbound-attempts.ts";
import { defineOperation } from "../operation.ts";
import { EndpointId } from "./endpoint-view.ts";

type TestDeps = { database: Database; outboundAllow: OutboundAllow; tracing?: Tracing | null };

export const testEventEndpoint = defineOperation({
  name: "eventEndpoints.test",
  summary: "Sends an example event to an endpoint, paused or not, and returns the response",
  access: "admin",
  limit: "admin",
  input: z.strictObject({
    id: EndpointId,
    type: z
      .enum(OUTBOUND_EVENT_TYPES)
      .optional()
      .describe("The example's type; defaults to the endpoint's first type."),
  }),
  reasons: ["not_found"],
  output: z.object({
    eventId: z.string().describe("The example event's id."),
    delivered: z.boolean().describe("Whether the endpoint accepted it."),
    responseStatus: z.int().nullable().describe("The response's status; `null`: there was no response."),
    error: z.string().nullable().describe("Why it failed, as one English sentence; `null`: delivered."),
    durationMs: z.number().describe("How long it took, in milliseconds."),
  }),
  run: async (deps: TestDeps, caller, { id, type }) => {
    const endpoint = (await findEndpoint(deps.database, id)) ?? notFound("event_endpoint");
    const target = (await findEndpointTarget(deps.database, id)) ?? notFound("event_endpoint");
    const eventType = type ?? endpoint.types[0] ?? "subscription.changed";
    const occurredAt = new Date();
    const event = outboundEvent({
      id: `evt_test_${randomBytes(12).toString("hex")}`,
      type: eventType,
      occurredAt,
      data: exampleData(eventType, occurredAt),
    });
    const result = await postEvent(
      target,
      { id: event.id, body: JSON.stringify(event) },
      { allow: deps.outboundAllow, now: Date.now, tracing: deps.tracing ?? null },
    );
    const { isDelivered: delivered, responseStatus, error, durationMs } = result;
    await withAudit(
      deps.database,
      caller,
      (transaction) => recordTest(transaction, id, event, result),
      () => ({
        action: "event_endpoint.tested",
        target: { type: "event_endpoint", id },
        details: { eventId: event.id, type: eventType, delivered, responseStatus },
      }),
    );
    return { eventId: event.id, delivered, responseStatus, error, durationMs };
  },
});
