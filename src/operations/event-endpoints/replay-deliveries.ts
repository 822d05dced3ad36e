import { z } from "zod";
import { notFound, refuse } from "../../domain/refusals/refusal.ts";
import { TimeInput } from "../../domain/time-input.ts";
import { withAudit } from "../../store/audit/with-audit.ts";
import type { Database } from "../../store/database.ts";
import { findEndpoint } from "../../store/outbound/event-endpoints.ts";
import { failedDeliveries, replayDeliveries } from "../../store/outbound/replay-outbound-deliveries.ts";
import { defineOperation } from "../operation.ts";
import { NumberId } from "../page.ts";
import { EndpointId } from "./endpoint-view.ts";

export const replayEndpointDeliveries = defineOperation({
  name: "eventEndpoints.replay",
  summary: "Resends the given deliveries, or all failed ones",
  access: "admin",
  limit: "admin",
  input: z.strictObject({
    id: EndpointId,
    deliveryIds: z
      .array(NumberId)
      .min(1)
      .max(1000)
      .optional()
      .describe("The deliveries to resend; if omitted, every failed one."),
    since: TimeInput.optional().describe(
      "Only failed deliveries created since then. Not together with `deliveryIds`.",
    ),
  }),
  reasons: ["not_found"],
  output: z.object({
    replayed: z
      .int()
      .describe(
        "How many are resent. Pending deliveries, tests and events that are no longer stored are not counted.",
      ),
  }),
  run: async (deps: { database: Database }, caller, { id, deliveryIds, since }) => {
    if (deliveryIds !== undefined && since !== undefined) {
      const params = { problem: "excludes", other: "deliveryIds" } as const;
      refuse({ reason: "invalid_input", params, field: "since" });
    }
    if ((await findEndpoint(deps.database, id)) === null) notFound("event_endpoint");
    const batches =
      deliveryIds === undefined
        ? failedDeliveries(deps.database, id, { since: since === undefined ? null : new Date(since) })
        : [deliveryIds];
    let replayed = 0;
    for await (const ids of batches) {
      replayed += await withAudit(
        deps.database,
        caller,
        (transaction) => replayDeliveries(transaction, id, ids),
        (replayed) => ({
          action: "event_endpoint.replayed",
          target: { type: "event_endpoint", id },
          details: { replayed },
        }),
      );
    }
    return { replayed };
  },
});
