import { ADAPTERS } from "../../providers/registry.ts";
import { injectFault } from "../delivery/inject-fault.ts";
import type { Transition } from "../lifecycle/lifecycle.ts";
import type { EmittedEvent } from "../lifecycle/subscription.ts";
import { eventContextOf } from "./event-context.ts";
import { recordPayment } from "./payments.ts";
import { nowSeconds, type ProviderSlot } from "./provider-slot.ts";
import type { QueuedEvent, SimulatedSubscription } from "./state.ts";

/** Stores a changed subscription and queues the events that report the change. */
export function emitEvents(
  slot: ProviderSlot,
  { subscription, events }: Transition<SimulatedSubscription>,
): SimulatedSubscription {
  let current = subscription;
  for (const event of events) {
    current = emit(slot, current, event, eventTime(slot, current));
    if (slot.renderer.restates.includes(event)) {
      current = emit(slot, current, "restated", current.lastEvent.atSeconds);
    }
  }
  const { subscriptions } = slot.state;
  const { subscriptionId } = subscription.ids;
  const index = subscriptions.findIndex(({ ids }) => ids.subscriptionId === subscriptionId);
  if (index < 0) subscriptions.push(current);
  else subscriptions[index] = current;
  slot.changed();
  return current;
}

function emit(
  slot: ProviderSlot,
  subscription: SimulatedSubscription,
  event: EmittedEvent,
  atSeconds: number,
): SimulatedSubscription {
  const next = { ...subscription, eventCount: subscription.eventCount + 1, lastEvent: { event, atSeconds } };
  recordPayment(slot, next);
  // While the endpoint is disabled Polar creates no events at all: they are never listed later.
  if (!slot.state.endpoint.isDisabled) queueEvent(slot, next);
  return next;
}

function queueEvent(slot: ProviderSlot, subscription: SimulatedSubscription): void {
  const { events } = slot.state;
  const { eventId, eventType, body } = slot.renderer.render(eventContextOf(slot, subscription));
  slot.state.eventCount += 1;
  const rawBody = JSON.stringify(body);
  const madeAtMs = slot.nowMs();
  const event: QueuedEvent = {
    number: slot.state.eventCount,
    eventId: eventId || identifyBody(slot, rawBody),
    eventType,
    subscriptionId: subscription.ids.subscriptionId,
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
  events.push(injectFault(event, slot));
  forgetOldest(slot);
}

/** The receiver's id of an event that has none of its own. */
function identifyBody({ state }: ProviderSlot, rawBody: string): string {
  const request = { rawBody: Buffer.from(rawBody), header: () => undefined };
  return ADAPTERS.of(state.format).identify(request, JSON.parse(rawBody)).eventId;
}

function eventTime(slot: ProviderSlot, { lastEvent, eventCount }: SimulatedSubscription): number {
  const { repeatsEventTimes, clockStepSeconds } = slot.traits;
  const now = nowSeconds(slot);
  if (eventCount === 0 || repeatsEventTimes) return now;
  return Math.max(now, lastEvent.atSeconds + clockStepSeconds);
}

function forgetOldest({ state: { events }, keptEvents }: ProviderSlot): void {
  const surplus = events.length - keptEvents;
  const first = surplus > 0 ? events.findIndex(({ status }) => status !== "waiting") : -1;
  if (first >= 0) events.splice(first, 1);
}
