import { Hono } from "hono";
import type { ProviderSlot } from "../server/provider-slot.ts";
import { invalidField, paged } from "./errors.ts";

const MAX_PAGE_SIZE = 200;

/** In pages of a cursor, the id of the last event seen. */
export function paddleEvents(slot: ProviderSlot): Hono {
  const app = new Hono();
  app.get("/", (c) => {
    const query = new URL(c.req.url).searchParams;
    const perPage = Math.min(MAX_PAGE_SIZE, Number(query.get("per_page") ?? 50));
    if (!(perPage >= 1)) throw invalidField("per_page", "must be at least 1");
    const types = query.get("event_type")?.split(",");
    const isDescending = /\[DESC\]/i.test(query.get("order_by") ?? "");
    const asked = slot.state.events.filter(({ eventType }) => types?.includes(eventType) ?? true);
    const listed = isDescending ? asked.toReversed() : asked;
    const after = query.get("after");
    const start = after === null ? 0 : listed.findIndex(({ eventId }) => eventId === after) + 1;
    if (after !== null && start === 0) throw invalidField("after", "is not an event");
    const page = listed.slice(start, start + perPage);
    const last = page.at(-1)?.eventId ?? after;
    if (last) query.set("after", last);
    return paged(
      c,
      page.map(({ rawBody }) => {
        const { notification_id: _, ...event } = JSON.parse(rawBody) as Record<string, unknown>;
        return event;
      }),
      {
        per_page: perPage,
        next: `${slot.url()}/events?${query}`,
        has_more: start + perPage < listed.length,
        estimated_total: listed.length,
      },
    );
  });
  return app;
}
