import { z } from "zod";
import { SLOTS } from "../../domain/slot.ts";
import { SUBSCRIPTION_STATUSES } from "../../domain/subscription-status.ts";

/** A subscription, wherever it is shown. */
export const SubscriptionView = z
  .object({
    id: z.uuid(),
    userId: z.string().nullable().describe("`null` once the user has deleted the account."),
    provider: z.enum(SLOTS),
    providerSubscriptionId: z.string().nullable(),
    planId: z.string(),
    seats: z.int(),
    status: z.enum(SUBSCRIPTION_STATUSES),
    currentPeriodEnd: z.date().nullable(),
    cancelAtPeriodEnd: z.boolean(),
    outOfOrder: z
      .boolean()
      .describe(
        "An older event was applied after a newer one; the subscription waits for comparison with the provider.",
      ),
    createdAt: z.date(),
    updatedAt: z.date(),
  })
  .meta({ id: "Subscription" });
