import { z } from "zod";
import { SUBSCRIPTION_STATUSES } from "../../domain/subscriptions/subscription-status.ts";

/** What has become of a subscription's fields: see `domain/subscriptions/changes.ts`. */
export const ChangesView = z
  .object({
    planId: change(z.string()).describe("The plan's id."),
    seats: change(z.int()).describe("The number of seats."),
    status: change(z.enum(SUBSCRIPTION_STATUSES)).describe("The status."),
    currentPeriodEnd: change(z.iso.datetime()).describe("When the paid period ends."),
    cancelAtPeriodEnd: change(z.boolean()).describe("Whether it ends with the current period."),
    providerSubscriptionId: change(z.string()).describe("The provider's id."),
    outOfOrder: change(z.boolean()).describe("Whether it needs comparison with the provider."),
  })
  .partial()
  .meta({ id: "Changes", description: "The changed fields, each with its value before and after." });

function change<Value extends z.ZodType>(value: Value) {
  return z.tuple([value.nullable(), value.nullable()]);
}
