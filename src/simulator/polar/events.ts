import type { EmittedEvent } from "../lifecycle/subscription.ts";
import type { Renderer } from "../renderer.ts";
import { rfc3339 } from "../rfc3339.ts";
import { uuid } from "../uuid.ts";
import { order, orderId } from "./order-document.ts";
import { reversalEvents } from "./reversals.ts";
import { subscription } from "./subscription-document.ts";

export const polar: Renderer = {
  newIds: (run, number) => ({
    subscriptionId: uuid(`${run} subscription ${number}`),
    customerId: uuid(`${run} customer ${number}`),
  }),
  render: (context) => {
    const { step, at, ids } = context;
    const eventType = eventTypeOf(step.event);
    return {
      eventId: `msg_${ids.subscriptionId}_${at}`,
      eventType,
      body: {
        type: eventType,
        timestamp: rfc3339(step.atSeconds),
        data: eventType === "order.paid" ? order(context) : subscription(context),
      },
    };
  },
  payments: {
    reportedBy: ["checkout completed", "charged", "change charged"],
    reportsCredits: true,
    idOf: orderId,
    linkEvents: () => [],
    reversalEvents,
  },
  subscription,
  restates: [
    "activated",
    "trial ended",
    "payment failed",
    "payment recovered",
    "cancellation scheduled",
    "cancellation withdrawn",
    "paused",
    "unpaused",
    "deleted",
  ],
  endKeepsSchedule: true,
};

function eventTypeOf(event: EmittedEvent): string {
  switch (event) {
    case "checkout completed":
    case "charged":
    case "change charged":
      return "order.paid";
    case "created":
      return "subscription.created";
    case "activated":
    case "trial ended":
    case "payment recovered":
      return "subscription.active";
    case "payment failed":
      return "subscription.past_due";
    case "paused":
      return "subscription.paused";
    case "unpaused":
      return "subscription.resumed";
    case "cancellation scheduled":
      return "subscription.canceled";
    case "cancellation withdrawn":
      return "subscription.uncanceled";
    case "deleted":
      return "subscription.revoked";
    default:
      return "subscription.updated";
  }
}
