import { Hono } from "hono";
import type { ProviderSlot } from "../server/provider-slot.ts";
import { cursorPage } from "./page.ts";

/** In pages behind a cursor, the id of the last event seen. */
export function paddleEvents(slot: ProviderSlot): Hono {
  const app = new Hono();
  app.get("/", (c) => {
    const types = c.req.query("event_type")?.split(",");
    const events = slot.state.events.filter(({ eventType }) => types?.includes(eventType) ?? true);
    return cursorPage(c, events, {
      path: `${slot.url()}/events`,
      idOf: ({ eventId }) => eventId,
      show: ({ rawBody }) => {
        const { notification_id: _, ...event } = JSON.parse(rawBody) as Record<string, unknown>;
        return event;
      },
    });
  });
  return app;
}
