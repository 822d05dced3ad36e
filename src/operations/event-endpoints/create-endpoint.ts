import { z } from "zod";
import type { OutboundAllow } from "../../outbound/allowed-targets.ts";
import { newEndpointSecret } from "../../outbound/sign.ts";
import { withAudit } from "../../store/audit/with-audit.ts";
import type { Database } from "../../store/database.ts";
import { insertEndpoint } from "../../store/outbound/event-endpoints.ts";
import { defineOperation } from "../operation.ts";
import { assertUrlAllowed, Description, EndpointUrl, EventEndpoint, EventTypes } from "./endpoint-view.ts";

export const createEventEndpoint = defineOperation({
  name: "eventEndpoints.create",
  summary: "Adds an endpoint for outbound events, and shows its signing secret once",
  access: "admin",
  limit: "admin",
  input: z.strictObject({ url: EndpointUrl, types: EventTypes, description: Description.optional() }),
  reasons: ["url_not_allowed"],
  output: EventEndpoint.pick({ id: true, url: true, types: true, enabled: true, createdAt: true }).extend({
    secret: z
      .string()
      .describe("The signing secret, in the format of Standard Webhooks. It cannot be shown again."),
  }),
  run: async (
    deps: { database: Database; outboundAllow: OutboundAllow },
    caller,
    { url, types, description = null },
  ) => {
    await assertUrlAllowed(url, deps.outboundAllow);
    const secret = newEndpointSecret();
    const createdBy = caller.kind === "operator" ? null : caller.userId;
    const { id, enabled, createdAt } = await withAudit(
      deps.database,
      caller,
      (transaction) => insertEndpoint(transaction, { url, types, description, secret, createdBy }),
      (endpoint) => ({
        action: "event_endpoint.created",
        target: { type: "event_endpoint", id: endpoint.id },
        details: { url, types },
      }),
    );
    return { id, url, types, enabled, secret, createdAt };
  },
});
