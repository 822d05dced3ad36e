import { z } from "zod";
import { notFound } from "../../domain/refusals/refusal.ts";
import type { Queryable } from "../../store/database.ts";
import { findEndpoint } from "../../store/outbound/event-endpoints.ts";
import { defineOperation } from "../operation.ts";
import { EndpointId, EventEndpoint } from "./endpoint-view.ts";

export const showEventEndpoint = defineOperation({
  name: "eventEndpoints.show",
  summary: "Shows one endpoint for outbound events",
  access: "admin",
  limit: "admin",
  input: z.strictObject({ id: EndpointId }),
  reasons: ["not_found"],
  output: EventEndpoint,
  run: async (deps: { database: Queryable }, _caller, { id }) =>
    (await findEndpoint(deps.database, id)) ?? notFound("event_endpoint"),
});
