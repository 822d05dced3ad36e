import type { listDeliveries } from "../../../operations/webhooks/list-deliveries.ts";
import type { replayDelivery } from "../../../operations/webhooks/replay-delivery.ts";
import type { showDelivery } from "../../../operations/webhooks/show-delivery.ts";
import { builder } from "../builder.ts";
import * as enums from "../enums.ts";
import type { ItemOf, OutputOf } from "./operation-output.ts";

const LoggedDelivery = builder.interfaceRef<ItemOf<typeof listDeliveries>>("LoggedDelivery").implement({
  fields: (t) => ({
    id: t.exposeID("id"),
    provider: t.expose("provider", { type: enums.SlotEnum }),
    eventId: t.exposeString("eventId"),
    eventType: t.exposeString("eventType", {
      description: "The provider's name of the event, as delivered.",
    }),
    status: t.expose("status", { type: enums.DeliveryStatusEnum }),
    attempts: t.exposeInt("attempts"),
    lastError: t.exposeString("lastError", {
      nullable: true,
      description: "Why the last attempt failed, as one English sentence.",
    }),
    lastReason: t.exposeString("lastReason", {
      nullable: true,
      description: "The same as a stable identifier; null also for failures stored by earlier releases.",
    }),
    receivedAt: t.expose("receivedAt", { type: "DateTime" }),
    completedAt: t.expose("completedAt", { type: "DateTime", nullable: true }),
    nextAttemptAt: t.expose("nextAttemptAt", { type: "DateTime", nullable: true }),
  }),
});

export const Delivery = builder
  .objectRef<ItemOf<typeof listDeliveries>>("Delivery")
  .implement({ interfaces: [LoggedDelivery] });

const Attempt = builder.objectRef<OutputOf<typeof showDelivery>["attemptLog"][number]>("Attempt").implement({
  fields: (t) => ({
    attempt: t.exposeInt("attempt"),
    source: t.expose("source", { type: enums.AttemptSourceEnum }),
    outcome: t.expose("outcome", { type: enums.AttemptOutcomeEnum }),
    error: t.exposeString("error", {
      nullable: true,
      description: "Why it failed, as one English sentence.",
    }),
    reason: t.exposeString("reason", { nullable: true, description: "The same as a stable identifier." }),
    params: t.expose("params", {
      type: "JSON",
      nullable: true,
      description: "Details of the reason, if there are any.",
    }),
    startedAt: t.expose("startedAt", { type: "DateTime" }),
    durationMs: t.exposeFloat("durationMs"),
    subscriptionId: t.exposeID("subscriptionId", {
      nullable: true,
      description: "The subscription that it changed; null: none.",
    }),
    changes: t.expose("changes", {
      type: "JSON",
      nullable: true,
      description:
        "The changed fields, each as a pair of the values before and after; null: it changed nothing.",
    }),
  }),
});

export const DeliveryInDetail = builder
  .objectRef<OutputOf<typeof showDelivery>>("DeliveryInDetail")
  .implement({
    interfaces: [LoggedDelivery],
    fields: (t) => ({
      payload: t.expose("payload", {
        type: "JSON",
        nullable: true,
        description: "As delivered; null when it is no longer kept.",
      }),
      attemptLog: t.expose("attemptLog", {
        type: [Attempt],
        description: "Every finished attempt, oldest first.",
        extensions: { size: 12 },
      }),
    }),
  });

export const Replay = builder.objectRef<OutputOf<typeof replayDelivery>>("Replay").implement({
  interfaces: [LoggedDelivery],
  fields: (t) => ({
    outcome: t.expose("outcome", { type: enums.ReplayOutcomeEnum }),
    error: t.exposeString("error", {
      nullable: true,
      description: "Why the replay failed, as one English sentence.",
    }),
    reason: t.exposeString("reason", { nullable: true, description: "The same as a stable identifier." }),
  }),
});
