import type { EmittedEvent } from "../lifecycle/subscription.ts";
import { type EventContext, type Renderer, subscriptionData } from "../renderer.ts";
import { uuid } from "../uuid.ts";
import { invoice, invoiceId, reversalEvents } from "./invoice.ts";
import { numberOf } from "./names.ts";
import { order } from "./order-document.ts";
import { subscription } from "./subscription-document.ts";

export const lemonSqueezy: Renderer = {
  newIds: (run, number) => ({
    subscriptionId: numberOf(`${run} subscription ${number}`),
    customerId: numberOf(`${run} customer ${number}`),
  }),
  render: (context) => {
    const { step, run } = context;
    const eventType = eventTypeOf(step.event);
    return {
      // There is no event id outside the body: the receiver derives one.
      eventId: "",
      eventType,
      body: {
        meta: {
          test_mode: true,
          event_name: eventType,
          webhook_id: uuid(`${run} ${context.ids.subscriptionId} ${context.at}`),
          custom_data: subscriptionData(context),
        },
        data: dataOf(context),
      },
    };
  },
  payments: {
    reportedBy: ["charged", "change charged", "charge failed"],
    reportsCredits: false,
    idOf: invoiceId,
    linkEvents: () => [],
    reversalEvents,
  },
  subscription,
  restates: ["cancellation scheduled", "cancellation withdrawn", "paused", "unpaused", "deleted"],
  endKeepsSchedule: true,
};

function dataOf(context: EventContext): object {
  switch (context.step.event) {
    case "checkout completed":
      return order(context);
    case "charged":
    case "change charged":
    case "charge failed":
      return invoice(context);
    default:
      return subscription(context);
  }
}

function eventTypeOf(event: EmittedEvent): string {
  switch (event) {
    case "checkout completed":
      return "order_created";
    case "created":
      return "subscription_created";
    case "cancellation scheduled":
      return "subscription_cancelled";
    case "cancellation withdrawn":
      return "subscription_resumed";
    case "paused":
      return "subscription_paused";
    case "unpaused":
      return "subscription_unpaused";
    case "deleted":
      return "subscription_expired";
    case "charged":
    case "change charged":
      return "subscription_payment_success";
    case "charge failed":
      return "subscription_payment_failed";
    default:
      return "subscription_updated";
  }
}
