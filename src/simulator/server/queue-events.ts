import { ADAPTERS } from "../../providers/registry.ts";
import { injectFault } from "../delivery/inject-fault.ts";
import type { WireEvent } from "../renderer.ts";
import type { ProviderSlot } from "./provider-slot.ts";
import type { QueuedEvent } from "./state.ts";

/** Queues events for delivery, with the faults that are set. */
export function queueEvents(slot: ProviderSlot, subscriptionId: string, events: readonly WireEvent[]): void {
  // While the endpoint is disabled Polar creates no events at all: they are never listed later.
  if (slot.state.endpoint.isDisabled) return;
  for (const event of events) {
    slot.state.events.push(injectFault(queuedEvent(slot, subscriptionId, event), slot));
    forgetOldest(slot);
  }
}

function queuedEvent(
  slot: ProviderSlot,
  subscriptionId: string,
  { eventId, eventType, body }: WireEvent,
): QueuedEvent {
  slot.state.eventCount += 1;
  const rawBody = JSON.stringify(body);
  const madeAtMs = slot.nowMs();
  return {
    number: slot.state.eventCount,
    eventId: eventId || identifyBody(slot, rawBody),
    eventType,
    subscriptionId,
    rawBody,
    madeAtMs,
    dueAtMs: madeAtMs,
    status: "waiting",
    fault: null,
    corruption: null,
    copies: 0,
    isHeldBack: false,
    failures: 0,
    tries: [],
  };
}

/** The receiver's id of an event that has none of its own. */
function identifyBody({ state }: ProviderSlot, rawBody: string): string {
  const request = { rawBody: Buffer.from(rawBody), header: () => undefined };
  return ADAPTERS.of(state.format).identify(request, JSON.parse(rawBody)).eventId;
}

function forgetOldest({ state: { events }, keptEvents }: ProviderSlot): void {
  const surplus = events.length - keptEvents;
  const first = surplus > 0 ? events.findIndex(({ status }) => status !== "waiting") : -1;
  if (first >= 0) events.splice(first, 1);
}
