import {
  changeSubscription,
  ExpectedSubscription as ExpectedView,
} from "../../../operations/billing/change-subscription.ts";
import type { showSubscription } from "../../../operations/subscriptions/show-subscription.ts";
import { SubscriptionView } from "../../../operations/subscriptions/subscription-view.ts";
import { builder } from "../builder.ts";
import * as enums from "../enums.ts";
import type { OutputOf } from "./operation-output.ts";

export const Subscription = builder
  .objectRef<OutputOf<typeof showSubscription>>("BillingSubscription")
  .implement({
    extensions: { view: SubscriptionView },
    fields: (t) => ({
      id: t.exposeID("id"),
      userId: t.exposeID("userId", { nullable: true }),
      provider: t.expose("provider", { type: enums.SlotEnum }),
      providerSubscriptionId: t.exposeString("providerSubscriptionId", { nullable: true }),
      planId: t.exposeID("planId"),
      seats: t.exposeInt("seats"),
      status: t.expose("status", { type: enums.SubscriptionStatusEnum }),
      currentPeriodEnd: t.expose("currentPeriodEnd", { type: "DateTime", nullable: true }),
      cancelAtPeriodEnd: t.exposeBoolean("cancelAtPeriodEnd"),
      outOfOrder: t.exposeBoolean("outOfOrder"),
      createdAt: t.expose("createdAt", { type: "DateTime" }),
      updatedAt: t.expose("updatedAt", { type: "DateTime" }),
    }),
  });

const ChangePreview = builder
  .objectRef<NonNullable<OutputOf<typeof changeSubscription>["preview"]>>("ChangePreview")
  .implement({
    description: "What a change of a subscription costs.",
    extensions: { view: changeSubscription.output.shape.preview.unwrap() },
    fields: (t) => ({
      amountDue: t.exposeFloat("amountDue"),
      currency: t.exposeString("currency"),
      at: t.expose("at", { type: "DateTime" }),
    }),
  });

export const SubscriptionChange = builder
  .objectRef<OutputOf<typeof changeSubscription>>("SubscriptionChange")
  .implement({
    description: "The result of a change, or its preview.",
    extensions: { view: changeSubscription.output },
    fields: (t) => ({
      subscription: t.expose("subscription", { type: Subscription }),
      preview: t.expose("preview", { type: ChangePreview, nullable: true }),
    }),
  });

export const ExpectedSubscription = builder.inputType("ExpectedSubscription", {
  description: "What the cost of a change depends on.",
  extensions: { view: ExpectedView },
  fields: (t) => ({
    planId: t.id({ required: true }),
    seats: t.int({ required: true }),
    currentPeriodEnd: t.field({ type: "DateTime" }),
  }),
});
