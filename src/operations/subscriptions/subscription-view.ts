import { z } from "zod";
import { SLOTS } from "../../domain/slot.ts";
import { SUBSCRIPTION_STATUSES } from "../../domain/subscriptions/subscription-status.ts";

/** A subscription, wherever it is shown. */
export const SubscriptionView = z
  .object({
    id: z.uuid().describe("The subscription's id."),
    userId: z
      .string()
      .nullable()
      .describe("The user it belongs to; `null` once the account has been deleted."),
    provider: z.enum(SLOTS).describe("The provider slot it is paid through."),
    providerSubscriptionId: z.string().nullable().describe("The provider's id; `null` until it is known."),
    planId: z.string().describe("The plan's id in `plans.config.ts`."),
    seats: z.int().describe("The number of seats."),
    status: z.enum(SUBSCRIPTION_STATUSES).describe("Its status, as last reported by the provider."),
    currentPeriodEnd: z.date().nullable().describe("When the paid period ends; `null`: not known."),
    cancelAtPeriodEnd: z.boolean().describe("Whether it ends with the current period."),
    outOfOrder: z
      .boolean()
      .describe(
        "Whether an older event was applied after a newer one, so that the subscription needs comparison with the provider.",
      ),
    createdAt: z.date().describe("When it was created."),
    updatedAt: z.date().describe("When it last changed."),
  })
  .meta({ id: "Subscription", description: "A user's subscription to a plan." });
