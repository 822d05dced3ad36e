import { z } from "zod";
import { DELIVERY_STATUSES } from "../../domain/delivery.ts";
import { FAILURE_REASONS } from "../../domain/failures.ts";
import { format } from "../../domain/invalid-input.ts";
import { SLOTS } from "../../domain/slot.ts";

/** A webhook delivery, wherever it is shown. */
export const Delivery = z
  .object({
    id: z.string(),
    provider: z.enum(SLOTS),
    eventId: z.string(),
    eventType: z.string().describe("The provider's name of the event, as delivered."),
    status: z.enum(DELIVERY_STATUSES),
    attempts: z.int(),
    lastError: z.string().nullable().describe("Why the last attempt failed, as one English sentence."),
    lastReason: z
      .enum(FAILURE_REASONS)
      .nullable()
      .describe("The same as a stable identifier; `null` also for failures stored by earlier releases."),
    receivedAt: z.date(),
    completedAt: z.date().nullable(),
    nextAttemptAt: z.date().nullable(),
  })
  .meta({ id: "Delivery" });

export type Delivery = z.output<typeof Delivery>;

export const DeliveryId = z.string().regex(/^[1-9]\d{0,17}$/, format("number_id"));
