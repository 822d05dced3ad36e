import { type Context, Hono } from "hono";
import type { ProviderSlot } from "../server/provider-slot.ts";
import type { QueuedEvent } from "../server/state.ts";
import { missing } from "./errors.ts";
import { isCreatedWithin, listResponse } from "./page.ts";

/** Newest first, in pages; whether an event was delivered makes no difference. */
export function stripeEvents({ state }: ProviderSlot): Hono {
  const app = new Hono();
  app.get("/", (c) => {
    const listed = state.events
      .toReversed()
      .filter(isOfRequestedType(c))
      .filter(isCreatedWithin(c, ({ rawBody }) => (JSON.parse(rawBody) as { created: number }).created));
    return listResponse(c, listed, {
      object: "event",
      url: "/v1/events",
      idOf: ({ eventId }) => eventId,
      show: ({ rawBody }) => JSON.parse(rawBody),
    });
  });
  app.get("/:id", (c) => {
    const event = state.events.find(({ eventId }) => eventId === c.req.param("id"));
    if (!event) throw missing("event", c.req.param("id"), "id");
    return c.json(JSON.parse(event.rawBody));
  });
  return app;
}

function isOfRequestedType(c: Context): (event: QueuedEvent) => boolean {
  const query = new URL(c.req.url).searchParams;
  const types = [...query].filter(([name]) => /^types\[\d*\]$/.test(name)).map(([, type]) => type);
  const type = query.get("type");
  if (type !== null) types.push(type);
  return ({ eventType }) => types.length === 0 || types.some((pattern) => matchesType(pattern, eventType));
}

function matchesType(pattern: string, eventType: string): boolean {
  return pattern.endsWith("*") ? eventType.startsWith(pattern.slice(0, -1)) : pattern === eventType;
}
