import { Hono } from "hono";
import type { ProviderSlot } from "../server/provider-slot.ts";
import type { QueuedEvent } from "../server/state.ts";
import { missing } from "./errors.ts";
import { pageOf } from "./page.ts";

/** Newest first, in pages; whether an event was delivered makes no difference. */
export function stripeEvents({ state }: ProviderSlot): Hono {
  const app = new Hono();
  app.get("/", (c) => {
    const query = new URL(c.req.url).searchParams;
    const listed = state.events.toReversed().filter((event) => matchesQuery(event, query));
    const { page, hasMore } = pageOf(listed, { object: "event", idOf: ({ eventId }) => eventId }, query);
    return c.json({
      object: "list",
      url: "/v1/events",
      has_more: hasMore,
      data: page.map(({ rawBody }) => JSON.parse(rawBody)),
    });
  });
  app.get("/:id", (c) => {
    const event = state.events.find(({ eventId }) => eventId === c.req.param("id"));
    if (!event) throw missing("event", c.req.param("id"), "id");
    return c.json(JSON.parse(event.rawBody));
  });
  return app;
}

function matchesQuery({ eventType, rawBody }: QueuedEvent, query: URLSearchParams): boolean {
  const types = [...query].filter(([name]) => /^types\[\d*\]$/.test(name)).map(([, type]) => type);
  const type = query.get("type");
  if (type !== null) types.push(type);
  if (types.length > 0 && !types.some((pattern) => matchesType(pattern, eventType))) return false;
  const { created } = JSON.parse(rawBody) as { created: number };
  const bound = (name: string) => {
    const text = query.get(`created[${name}]`);
    return text === null ? null : Number(text);
  };
  return (
    created >= (bound("gte") ?? 0) &&
    created > (bound("gt") ?? -1) &&
    created <= (bound("lte") ?? Number.POSITIVE_INFINITY) &&
    created < (bound("lt") ?? Number.POSITIVE_INFINITY)
  );
}

function matchesType(pattern: string, eventType: string): boolean {
  return pattern.endsWith("*") ? eventType.startsWith(pattern.slice(0, -1)) : pattern === eventType;
}
