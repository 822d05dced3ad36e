import type { Handler } from "hono";
import { POLAR_EVENT_TYPES } from "../../providers/polar/webhook.ts";
import { rfc3339 } from "../rfc3339.ts";
import type { ProviderSlot } from "../server/provider-slot.ts";
import type { QueuedEvent } from "../server/state.ts";
import { uuid } from "../uuid.ts";
import { numberedPage } from "./page.ts";

/** The only endpoint. */
export function polarEndpoints({ name: slot, state }: ProviderSlot): Handler {
  return (c) => {
    const url = `http://localhost/api/webhooks/${slot}`;
    const endpoint = {
      id: uuid(`endpoint ${slot}`),
      url,
      format: "raw",
      enabled: !state.endpoint.isDisabled,
      created_at: rfc3339(1_735_689_600),
      modified_at: null,
      name: null,
      secret: state.secret,
      organization_id: uuid("organization"),
      events: POLAR_EVENT_TYPES,
    };
    return numberedPage(c, [endpoint], (only) => only);
  };
}

/** Each attempt is a delivery, newest first; events without an attempt are not listed. */
export function polarDeliveries({ state }: ProviderSlot): Handler {
  return (c) => {
    const query = new URL(c.req.url).searchParams;
    const startMs = Date.parse(query.get("start_timestamp") ?? "") || 0;
    const endMs = Date.parse(query.get("end_timestamp") ?? "") || Number.POSITIVE_INFINITY;
    const succeeded = query.get("succeeded");
    const types = query.getAll("event_type");
    const listed = state.events
      .flatMap((event) => triesOf(event).map((attempt, at) => ({ event, attempt, at })))
      // All times use the provider's clock, so that they can be compared.
      .filter(({ event }) => event.madeAtMs >= startMs && event.madeAtMs <= endMs)
      .filter(({ attempt }) => succeeded === null || String(attempt.wasTaken) === succeeded)
      .filter(({ event }) => types.length === 0 || types.includes(event.eventType))
      .sort((a, b) => b.event.madeAtMs - a.event.madeAtMs || b.event.number - a.event.number || b.at - a.at);
    return numberedPage(c, listed, ({ event, attempt, at }) => ({
      id: uuid(`delivery ${event.eventId} ${at}`),
      created_at: rfc3339(event.madeAtMs / 1_000),
      modified_at: null,
      succeeded: attempt.wasTaken,
      http_code: Number.parseInt(attempt.outcome, 10) || null,
      response: attempt.outcome,
      webhook_event: {
        id: event.eventId,
        created_at: rfc3339(event.madeAtMs / 1_000),
        modified_at: null,
        last_http_code: Number.parseInt(event.tries.at(-1)?.outcome ?? "", 10) || null,
        succeeded: event.status === "delivered" ? true : event.status === "given up" ? false : null,
        skipped: event.status === "skipped",
        api_version: "2026-04",
        payload: event.rawBody,
        type: event.eventType,
        is_archived: false,
      },
    }));
  };
}

/** A lost delivery counts as sent, as the provider cannot know. */
function triesOf({ status, tries, madeAtMs }: QueuedEvent): QueuedEvent["tries"] {
  const isLost = status === "dropped" && tries.length === 0;
  return isLost ? [{ atMs: madeAtMs, tookMs: 0, outcome: "no response", wasTaken: false }] : tries;
}
