import { Hono } from "hono";
import type { ProviderSlot } from "../server/provider-slot.ts";
import { invalidField } from "./errors.ts";
import { cursorPage } from "./page.ts";

/** https://developer.paddle.com/webhooks/overview: of subscriptions and their payments. */
const PADDLE_EVENT_TYPES = new Set([
  ...["activated", "canceled", "created", "imported", "past_due", "paused"].map(
    (name) => `subscription.${name}`,
  ),
  ...["resumed", "trialing", "updated"].map((name) => `subscription.${name}`),
  ...["billed", "canceled", "completed", "created", "paid"].map((name) => `transaction.${name}`),
  ...["past_due", "payment_failed", "ready", "revised", "updated"].map((name) => `transaction.${name}`),
  ...["adjustment.created", "adjustment.updated", "customer.created", "customer.updated"],
]);

/** In pages behind a cursor, the id of the last event seen. */
export function paddleEvents(slot: ProviderSlot): Hono {
  const app = new Hono();
  app.get("/", (c) => {
    const types = c.req.query("event_type")?.split(",");
    const unknownType = types?.find((type) => !PADDLE_EVENT_TYPES.has(type));
    if (unknownType !== undefined) throw invalidField("event_type", `${unknownType} is not an event type`);
    const events = slot.state.events.filter(({ eventType }) => types?.includes(eventType) ?? true);
    return cursorPage(c, slot, events, {
      path: "/events",
      idOf: ({ eventId }) => eventId,
      show: ({ rawBody }) => {
        const { notification_id: _, ...event } = JSON.parse(rawBody) as Record<string, unknown>;
        return event;
      },
    });
  });
  return app;
}
