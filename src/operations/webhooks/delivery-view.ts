import { z } from "zod";
import { DELIVERY_STATUSES } from "../../domain/delivery.ts";
import { format } from "../../domain/invalid-input.ts";
import { SLOTS } from "../../domain/slot.ts";

/** A webhook delivery, wherever it is shown. */
export const Delivery = z
  .object({
    id: z.string(),
    provider: z.enum(SLOTS),
    eventId: z.string(),
    eventType: z.string().describe("The provider's own name of it, as delivered."),
    status: z.enum(DELIVERY_STATUSES),
    attempts: z.int(),
    lastError: z.string().nullable(),
    receivedAt: z.date(),
    completedAt: z.date().nullable(),
    nextAttemptAt: z.date().nullable(),
  })
  .meta({ id: "Delivery" });

export type Delivery = z.output<typeof Delivery>;

export const DeliveryId = z.string().regex(/^[1-9]\d{0,17}$/, format("number_id"));
