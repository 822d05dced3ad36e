import { z } from "zod";
import type { Queryable } from "../../store/database.ts";
import { listEndpoints } from "../../store/outbound/event-endpoints.ts";
import { defineOperation } from "../operation.ts";
import { PAGE, pageOf, readPage } from "../page.ts";
import { EventEndpoint } from "./endpoint-view.ts";

export const listEventEndpoints = defineOperation({
  name: "eventEndpoints.list",
  summary: "Lists the endpoints for outbound events, oldest first",
  access: "admin",
  limit: "admin",
  input: z.strictObject(PAGE),
  reasons: [],
  output: pageOf(EventEndpoint),
  run: (deps: { database: Queryable }, _caller, page) =>
    readPage(page, (after, limit) => listEndpoints(deps.database, { after, limit })),
});
