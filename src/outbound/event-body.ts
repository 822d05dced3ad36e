import { OUTBOUND_EVENT_VERSION, type OutboundEvent } from "../domain/outbound/outbound-event.ts";

/** An event as it is sent, the same on every way out. */
export function outboundEvent(event: Omit<OutboundEvent, "version">): OutboundEvent {
  const { id, type, occurredAt, data } = event;
  return { id, type, occurredAt, version: OUTBOUND_EVENT_VERSION, data };
}
