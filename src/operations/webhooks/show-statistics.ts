import { z } from "zod";
import { SLOTS } from "../../domain/slot.ts";
import type { Queryable } from "../../store/database.ts";
import { countDeliveries } from "../../store/deliveries/delivery-statistics.ts";
import { defineOperation } from "../operation.ts";

const Count = z.int().min(0);

const DeliveryStatistics = z
  .object({
    hours: z
      .array(
        z.object({
          startsAt: z.date().describe("The start of the hour."),
          successful: Count.describe("Deliveries that were processed."),
          failed: Count.describe("Deliveries that failed."),
          pending: Count.describe("Deliveries that are being processed."),
        }),
      )
      .length(24)
      .describe("The current hour and the 23 before it, oldest first."),
    isEstimate: z
      .boolean()
      .describe(
        "Whether the number of successful deliveries is an estimate, as on busy days; failed and pending ones are exact.",
      ),
  })
  .meta({ id: "DeliveryStatistics", description: "The deliveries of the last 24 hours." });

export const showStatistics = defineOperation({
  name: "webhooks.statistics",
  summary: "Counts the deliveries of the last 24 hours, by hour and status",
  access: "admin",
  limit: "admin",
  input: z.strictObject({
    provider: z.enum(SLOTS).nullable().default(null).describe("Only deliveries to this slot."),
  }),
  reasons: [],
  output: DeliveryStatistics,
  run: (deps: { database: Queryable }, _caller, filter) => countDeliveries(deps.database, filter),
});
