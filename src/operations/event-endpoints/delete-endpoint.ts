import { z } from "zod";
import { notFound } from "../../domain/refusals/refusal.ts";
import { withAudit } from "../../store/audit/with-audit.ts";
import type { Database } from "../../store/database.ts";
import { deleteDeliveryLog, deleteEndpoint, findEndpoint } from "../../store/outbound/event-endpoints.ts";
import { defineOperation } from "../operation.ts";
import { EndpointId } from "./endpoint-view.ts";

const LOG_BATCH = 5_000;

export const deleteEventEndpoint = defineOperation({
  name: "eventEndpoints.delete",
  summary: "Deletes an endpoint with its log of deliveries",
  access: "admin",
  limit: "admin",
  input: z.strictObject({ id: EndpointId }),
  reasons: ["not_found"],
  output: z.object({ success: z.literal(true).describe("Always true.") }),
  run: async (deps: { database: Database }, caller, { id }) => {
    if ((await findEndpoint(deps.database, id)) === null) notFound("event_endpoint");
    // In parts, and first: the relay waits for whoever has locked an endpoint.
    while (await deleteDeliveryLog(deps.database, id, LOG_BATCH));
    const entry = { action: "event_endpoint.deleted", target: { type: "event_endpoint", id } } as const;
    const isDeleted = await withAudit(
      deps.database,
      caller,
      (transaction) => deleteEndpoint(transaction, id),
      (isDeleted) => (isDeleted ? entry : null),
    );
    if (!isDeleted) notFound("event_endpoint");
    return { success: true as const };
  },
});
