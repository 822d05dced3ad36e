import type { EventContext, WireEvent } from "../renderer.ts";

const API_VERSION = "2026-02-25.clover";

/** @param suffix distinguishes events that are rendered from the same step */
export function envelope(
  { ids, at, run, step }: EventContext,
  {
    eventType,
    object,
    suffix = null,
    atSeconds = step.atSeconds,
  }: { eventType: string; object: object; suffix?: string | null; atSeconds?: number },
): WireEvent {
  const name = `${ids.subscriptionId.slice("sub_".length)}_${at}`;
  const eventId = `evt_${name}${suffix === null ? "" : `_${suffix}`}`;
  return {
    eventId,
    eventType,
    body: {
      id: eventId,
      object: "event",
      api_version: API_VERSION,
      created: atSeconds,
      data: { object },
      livemode: false,
      pending_webhooks: 1,
      request: { id: `req_${run}${at}`, idempotency_key: null },
      type: eventType,
    },
  };
}
