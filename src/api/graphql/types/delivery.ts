import { Delivery as DeliveryView } from "../../../operations/webhooks/delivery-view.ts";
import type { listDeliveries } from "../../../operations/webhooks/list-deliveries.ts";
import { replayDelivery } from "../../../operations/webhooks/replay-delivery.ts";
import { showDelivery } from "../../../operations/webhooks/show-delivery.ts";
import { builder } from "../builder.ts";
import * as enums from "../enums.ts";
import type { ItemOf, OutputOf } from "./operation-output.ts";

const LoggedDelivery = builder.interfaceRef<ItemOf<typeof listDeliveries>>("LoggedDelivery").implement({
  extensions: { view: DeliveryView },
  fields: (t) => ({
    id: t.exposeID("id"),
    provider: t.expose("provider", { type: enums.SlotEnum }),
    eventId: t.exposeString("eventId"),
    eventType: t.exposeString("eventType"),
    status: t.expose("status", { type: enums.DeliveryStatusEnum }),
    attempts: t.exposeInt("attempts"),
    lastError: t.exposeString("lastError", { nullable: true }),
    lastReason: t.exposeString("lastReason", { nullable: true }),
    receivedAt: t.expose("receivedAt", { type: "DateTime" }),
    completedAt: t.expose("completedAt", { type: "DateTime", nullable: true }),
    nextAttemptAt: t.expose("nextAttemptAt", { type: "DateTime", nullable: true }),
  }),
});

export const Delivery = builder.objectRef<ItemOf<typeof listDeliveries>>("Delivery").implement({
  interfaces: [LoggedDelivery],
  extensions: { view: DeliveryView },
});

const Attempt = builder.objectRef<OutputOf<typeof showDelivery>["attemptLog"][number]>("Attempt").implement({
  description: "One attempt to process a delivery.",
  extensions: { view: showDelivery.output.shape.attemptLog.element },
  fields: (t) => ({
    attempt: t.exposeInt("attempt"),
    source: t.expose("source", { type: enums.AttemptSourceEnum }),
    outcome: t.expose("outcome", { type: enums.AttemptOutcomeEnum }),
    error: t.exposeString("error", { nullable: true }),
    reason: t.exposeString("reason", { nullable: true }),
    params: t.expose("params", { type: "JSON", nullable: true }),
    startedAt: t.expose("startedAt", { type: "DateTime" }),
    durationMs: t.exposeFloat("durationMs"),
    subscriptionId: t.exposeID("subscriptionId", { nullable: true }),
    changes: t.expose("changes", { type: "JSON", nullable: true }),
  }),
});

export const DeliveryInDetail = builder
  .objectRef<OutputOf<typeof showDelivery>>("DeliveryInDetail")
  .implement({
    interfaces: [LoggedDelivery],
    extensions: { view: showDelivery.output },
    fields: (t) => ({
      payload: t.expose("payload", { type: "JSON", nullable: true }),
      attemptLog: t.expose("attemptLog", { type: [Attempt], extensions: { size: 12 } }),
    }),
  });

export const Replay = builder.objectRef<OutputOf<typeof replayDelivery>>("Replay").implement({
  interfaces: [LoggedDelivery],
  extensions: { view: replayDelivery.output },
  fields: (t) => ({
    outcome: t.expose("outcome", { type: enums.ReplayOutcomeEnum }),
    error: t.exposeString("error", { nullable: true }),
    reason: t.exposeString("reason", { nullable: true }),
  }),
});
