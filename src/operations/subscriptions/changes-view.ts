import { z } from "zod";
import { SUBSCRIPTION_STATUSES } from "../../domain/subscription-status.ts";

/** What has become of a subscription's fields: see `domain/changes.ts`. */
export const ChangesView = z
  .object({
    planId: change(z.string()),
    seats: change(z.int()),
    status: change(z.enum(SUBSCRIPTION_STATUSES)),
    currentPeriodEnd: change(z.iso.datetime()),
    cancelAtPeriodEnd: change(z.boolean()),
    providerSubscriptionId: change(z.string()),
    outOfOrder: change(z.boolean()),
  })
  .partial()
  .meta({ id: "Changes", description: "The changed fields, each with its value before and after." });

function change<Value extends z.ZodType>(value: Value) {
  return z.tuple([value.nullable(), value.nullable()]);
}
