import { z } from "zod";
import { notFound, refuse } from "../../domain/refusals/refusal.ts";
import type { OutboundAllow } from "../../outbound/allowed-targets.ts";
import { newEndpointSecret } from "../../outbound/sign.ts";
import { withAudit } from "../../store/audit/with-audit.ts";
import type { Database } from "../../store/database.ts";
import { updateEndpoint } from "../../store/outbound/event-endpoints.ts";
import { defineOperation } from "../operation.ts";
import {
  assertUrlAllowed,
  Description,
  EndpointId,
  EndpointUrl,
  EventEndpoint,
  EventTypes,
} from "./endpoint-view.ts";

export const updateEventEndpoint = defineOperation({
  name: "eventEndpoints.update",
  summary:
    "Changes, pauses or resumes an endpoint, or rotates its secret: the old one stays valid for 24 hours",
  access: "admin",
  limit: "admin",
  input: z.strictObject({
    id: EndpointId,
    url: EndpointUrl.optional(),
    types: EventTypes.optional(),
    description: Description.optional(),
    enabled: z.boolean().optional().describe("`false` pauses it; `true` resumes it."),
    rotateSecret: z.boolean().optional().describe("Whether to create a new signing secret."),
  }),
  reasons: ["not_found", "url_not_allowed"],
  output: EventEndpoint.extend({
    secret: z.string().optional().describe("The new signing secret, shown once."),
  }),
  run: async (
    deps: { database: Database; outboundAllow: OutboundAllow },
    caller,
    { id, rotateSecret = false, ...change },
  ) => {
    if (!rotateSecret && Object.values(change).every((value) => value === undefined))
      refuse({ reason: "invalid_input", params: { problem: "nothing_to_change" } });
    if (change.url !== undefined) await assertUrlAllowed(change.url, deps.outboundAllow);
    const secret = rotateSecret ? newEndpointSecret() : undefined;
    const entry = {
      action: "event_endpoint.changed",
      target: { type: "event_endpoint", id },
      details: { ...change, ...(rotateSecret ? { rotateSecret } : {}) },
    } as const;
    const changed = await withAudit(
      deps.database,
      caller,
      (transaction) => updateEndpoint(transaction, id, { ...change, secret }),
      (changed) => (changed === null ? null : entry),
    );
    const endpoint = changed ?? notFound("event_endpoint");
    return secret === undefined ? endpoint : { ...endpoint, secret };
  },
});
