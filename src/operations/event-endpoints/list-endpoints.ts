import { z } from "zod";
import { isUuid } from "../../domain/uuid.ts";
import type { Queryable } from "../../store/database.ts";
import { listEndpoints } from "../../store/outbound/event-endpoints.ts";
import { defineOperation } from "../operation.ts";
import { cutPage, PAGE, pageOf, positionOf } from "../page.ts";
import { EventEndpoint } from "./endpoint-view.ts";

export const listEventEndpoints = defineOperation({
  name: "eventEndpoints.list",
  summary: "Lists the endpoints for outbound events, oldest first",
  access: "admin",
  limit: "admin",
  input: z.strictObject(PAGE),
  reasons: [],
  output: pageOf(EventEndpoint),
  run: async (deps: { database: Queryable }, _caller, { cursor, limit }) => {
    const after = positionOf(cursor, isUuid);
    const rows = await listEndpoints(deps.database, { after, limit: limit + 1 });
    return cutPage(rows, limit);
  },
});
