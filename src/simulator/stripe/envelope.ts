import type { EventContext, WireEvent } from "../renderer.ts";

const API_VERSION = "2026-02-25.clover";

type EventContent = {
  eventType: string;
  object: object;
  /** https://docs.stripe.com/api/events/object#event_object-data-previous_attributes */
  previousAttributes?: object | undefined;
  /** Distinguishes events that are rendered from the same step. */
  suffix?: string | null;
  atSeconds?: number;
};

export function envelope(
  { ids, at, run, step }: EventContext,
  { eventType, object, previousAttributes, suffix = null, atSeconds = step.atSeconds }: EventContent,
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
      data: {
        object,
        ...(previousAttributes === undefined ? {} : { previous_attributes: previousAttributes }),
      },
      livemode: false,
      pending_webhooks: 1,
      request: { id: `req_${run}${at}`, idempotency_key: null },
      type: eventType,
    },
  };
}
