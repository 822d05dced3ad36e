import { Hono } from "hono";
import type { ProviderSlot } from "../server/provider-slot.ts";
import type { QueuedEvent } from "../server/state.ts";
import { invalid, missing } from "./errors.ts";

const MAX_PAGE_SIZE = 100;

/** Newest first, in pages; whether an event was delivered makes no difference. */
export function stripeEvents({ state }: ProviderSlot): Hono {
  const app = new Hono();
  app.get("/", (c) => {
    const query = new URL(c.req.url).searchParams;
    const limit = Number(query.get("limit") ?? 10);
    if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE_SIZE)
      throw invalid("Invalid integer: limit", "limit");
    const asked = state.events.toReversed().filter((event) => isAsked(event, query));
    const after = query.get("starting_after");
    const before = query.get("ending_before");
    const start = after === null ? 0 : positionOf(asked, after, "starting_after") + 1;
    const end = before === null ? asked.length : positionOf(asked, before, "ending_before");
    const page =
      before === null ? asked.slice(start, start + limit) : asked.slice(Math.max(0, end - limit), end);
    const isMore = before === null ? start + limit < asked.length : end - limit > 0;
    return c.json({
      object: "list",
      url: "/v1/events",
      has_more: isMore,
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

function isAsked({ eventType, rawBody }: QueuedEvent, query: URLSearchParams): boolean {
  const types = [...query].filter(([name]) => /^types\[\d*\]$/.test(name)).map(([, type]) => type);
  const type = query.get("type");
  if (type !== null) types.push(type);
  if (types.length > 0 && !types.some((pattern) => matches(pattern, eventType))) return false;
  const { created } = JSON.parse(rawBody) as { created: number };
  const limit = (name: string) => {
    const text = query.get(`created[${name}]`);
    return text === null ? null : Number(text);
  };
  return (
    created >= (limit("gte") ?? 0) &&
    created > (limit("gt") ?? -1) &&
    created <= (limit("lte") ?? Number.POSITIVE_INFINITY) &&
    created < (limit("lt") ?? Number.POSITIVE_INFINITY)
  );
}

function matches(pattern: string, eventType: string): boolean {
  return pattern.endsWith("*") ? eventType.startsWith(pattern.slice(0, -1)) : pattern === eventType;
}

function positionOf(events: readonly QueuedEvent[], id: string, param: string): number {
  const position = events.findIndex(({ eventId }) => eventId === id);
  if (position < 0) throw missing("event", id, param);
  return position;
}
