import { z } from "zod";
import { DELIVERY_STATUSES } from "../../domain/deliveries/delivery.ts";
import { FAILURE_REASONS } from "../../domain/deliveries/failures.ts";
import { SLOTS } from "../../domain/slot.ts";
import { NumberId } from "../page.ts";

/** A webhook delivery, wherever it is shown. */
export const Delivery = z
  .object({
    id: z.string().describe("The delivery's id."),
    provider: z.enum(SLOTS).describe("The provider slot that received it."),
    eventId: z.string().describe("The provider's id of the event."),
    eventType: z.string().describe("The provider's name of the event, as delivered."),
    status: z.enum(DELIVERY_STATUSES).describe("The state of its processing."),
    attempts: z.int().describe("How many times it was processed."),
    lastError: z.string().nullable().describe("Why the last attempt failed, as one English sentence."),
    lastReason: z
      .enum(FAILURE_REASONS)
      .nullable()
      .describe("The same as a stable identifier; `null` also for failures stored by earlier releases."),
    receivedAt: z.date().describe("When it was first received."),
    completedAt: z.date().nullable().describe("When its last attempt ended; `null`: none has."),
    nextAttemptAt: z.date().nullable().describe("When it is retried; `null`: it is not."),
  })
  .meta({ id: "Delivery", description: "A webhook delivery of a payment provider." });

export type Delivery = z.output<typeof Delivery>;

export const DeliveryId = NumberId.describe("The delivery's id.");
