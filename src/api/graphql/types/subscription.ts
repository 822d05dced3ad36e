import type { changeSubscription } from "../../../operations/billing/change-subscription.ts";
import type { showSubscription } from "../../../operations/subscriptions/show-subscription.ts";
import { builder } from "../builder.ts";
import * as enums from "../enums.ts";
import type { OutputOf } from "./operation-output.ts";

export const Subscription = builder
  .objectRef<OutputOf<typeof showSubscription>>("BillingSubscription")
  .implement({
    fields: (t) => ({
      id: t.exposeID("id"),
      userId: t.exposeID("userId", {
        nullable: true,
        description: "null once the user has deleted the account.",
      }),
      provider: t.expose("provider", { type: enums.SlotEnum }),
      providerSubscriptionId: t.exposeString("providerSubscriptionId", { nullable: true }),
      planId: t.exposeID("planId"),
      seats: t.exposeInt("seats"),
      status: t.expose("status", { type: enums.SubscriptionStatusEnum }),
      currentPeriodEnd: t.expose("currentPeriodEnd", { type: "DateTime", nullable: true }),
      cancelAtPeriodEnd: t.exposeBoolean("cancelAtPeriodEnd"),
      outOfOrder: t.exposeBoolean("outOfOrder", {
        description:
          "An older event was applied after a newer one; the subscription waits for comparison with the provider.",
      }),
      createdAt: t.expose("createdAt", { type: "DateTime" }),
      updatedAt: t.expose("updatedAt", { type: "DateTime" }),
    }),
  });

const ChangePreview = builder
  .objectRef<NonNullable<OutputOf<typeof changeSubscription>["preview"]>>("ChangePreview")
  .implement({
    fields: (t) => ({
      amountDue: t.exposeFloat("amountDue", {
        description: "In the currency's smallest unit, charged at `at`; negative: a credit.",
      }),
      currency: t.exposeString("currency", { description: "ISO 4217." }),
      at: t.expose("at", { type: "DateTime" }),
    }),
  });

export const SubscriptionChange = builder
  .objectRef<OutputOf<typeof changeSubscription>>("SubscriptionChange")
  .implement({
    fields: (t) => ({
      subscription: t.expose("subscription", { type: Subscription }),
      preview: t.expose("preview", { type: ChangePreview, nullable: true }),
    }),
  });
