import { z } from "zod";
import { DELIVERY_STATUSES } from "../../domain/deliveries/delivery.ts";
import { SLOTS } from "../../domain/slot.ts";
import type { Queryable } from "../../store/database.ts";
import { listLoggedDeliveries } from "../../store/deliveries/delivery-log.ts";
import { defineOperation } from "../operation.ts";
import { FilterText, IdCursor, PAGE, pageOf } from "../page.ts";
import { Delivery } from "./delivery-view.ts";

/** A page may be short, or empty, and not be the last: follow the cursor. */
export const listDeliveries = defineOperation({
  name: "webhooks.list",
  summary:
    "Lists webhook deliveries, newest first; a page may hold fewer than `limit` without being the last",
  access: "admin",
  limit: "admin",
  input: z.strictObject({
    ...PAGE,
    cursor: IdCursor,
    provider: z.enum(SLOTS).nullable().default(null).describe("Only deliveries to this slot."),
    status: z.enum(DELIVERY_STATUSES).nullable().default(null).describe("Only deliveries with this status."),
    type: FilterText.describe("The provider's name of the event, as delivered."),
    eventId: FilterText.describe("The provider's id of the event, in full."),
    subscriptionId: z
      .uuid()
      .nullable()
      .default(null)
      .describe("Only deliveries that changed this subscription."),
  }),
  reasons: [],
  output: pageOf(Delivery),
  run: async (deps: { database: Queryable }, _caller, { cursor, limit, ...filter }) => {
    const { deliveries, next } = await listLoggedDeliveries(deps.database, filter, { before: cursor, limit });
    return { items: deliveries, nextCursor: next };
  },
});
