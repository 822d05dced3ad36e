import { Hono } from "hono";
import type { Shop } from "../shop.ts";
import { invalidField, paged } from "./paddle-problem.ts";

const MOST = 200;

/** In pages of a cursor, the id of the last event seen. */
export function paddleEvents(shop: Shop): Hono {
  const app = new Hono();
  app.get("/", (c) => {
    const query = new URL(c.req.url).searchParams;
    const perPage = Math.min(MOST, Number(query.get("per_page") ?? 50));
    if (!(perPage >= 1)) throw invalidField("per_page", "must be at least 1");
    const types = query.get("event_type")?.split(",");
    const isDescending = /\[DESC\]/i.test(query.get("order_by") ?? "");
    const asked = shop.state.events.filter(({ eventType }) => types?.includes(eventType) ?? true);
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
        next: `${shop.url()}/events?${query}`,
        has_more: start + perPage < listed.length,
        estimated_total: listed.length,
      },
    );
  });
  return app;
}
