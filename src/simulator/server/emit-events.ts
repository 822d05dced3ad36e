import { amountDue } from "../lifecycle/charge.ts";
import type { EmittedEvent } from "../lifecycle/subscription.ts";
import type { Transition } from "../lifecycle/transition.ts";
import { eventContextOf } from "./event-context.ts";
import { recordPayment } from "./payments.ts";
import { findSubscription, nowSeconds, type ProviderSlot } from "./provider-slot.ts";
import { queueEvents } from "./queue-events.ts";
import type { SimulatedSubscription } from "./state.ts";

/** Stores a changed subscription and queues the events that report the change. */
export function emitEvents(
  slot: ProviderSlot,
  { subscription, events }: Transition<SimulatedSubscription>,
): SimulatedSubscription {
  const { subscriptions } = slot.state;
  const { subscriptionId } = subscription.ids;
  let current = subscription;
  let previous = findSubscription(slot, subscriptionId);
  const add = (event: EmittedEvent, atSeconds: number) => {
    current = emit(slot, { subscription: current, previous }, event, atSeconds);
    previous = current;
  };
  for (const event of events) {
    if (!isReported(slot, event, current)) continue;
    add(event, eventTime(slot, current));
    if (slot.renderer.restates.includes(event)) add("restated", current.lastEvent.atSeconds);
  }
  const index = subscriptions.findIndex(({ ids }) => ids.subscriptionId === subscriptionId);
  if (index < 0) subscriptions.push(current);
  else subscriptions[index] = current;
  slot.changed();
  return current;
}

/** Providers that have no event for a payment send none; of other changes all send one. */
function isReported(
  { renderer: { payments } }: ProviderSlot,
  event: EmittedEvent,
  { state }: SimulatedSubscription,
): boolean {
  if (event !== "charge failed" && event !== "change charged") return true;
  if (!payments?.reportedBy.includes(event)) return false;
  return event === "charge failed" || payments.reportsCredits || amountDue(state) > 0;
}

function emit(
  slot: ProviderSlot,
  { subscription, previous }: { subscription: SimulatedSubscription; previous: SimulatedSubscription | null },
  event: EmittedEvent,
  atSeconds: number,
): SimulatedSubscription {
  const failedAt = subscription.failedAt ?? (event === "charge failed" ? subscription.eventCount : null);
  const lastEvent = { event, atSeconds };
  const next = { ...subscription, eventCount: subscription.eventCount + 1, lastEvent, failedAt };
  const context = {
    ...eventContextOf(slot, next),
    ...(previous === null ? {} : { previous: eventContextOf(slot, previous) }),
  };
  const linkEvents = recordPayment(slot, context) ? slot.renderer.payments?.linkEvents(context) : [];
  queueEvents(slot, next.ids.subscriptionId, [slot.renderer.render(context), ...(linkEvents ?? [])]);
  return event === "charged" ? { ...next, failedAt: null } : next;
}

function eventTime(slot: ProviderSlot, { lastEvent, eventCount }: SimulatedSubscription): number {
  const { repeatsEventTimes, clockStepSeconds } = slot.traits;
  const now = nowSeconds(slot);
  if (eventCount === 0 || repeatsEventTimes) return now;
  return Math.max(now, lastEvent.atSeconds + clockStepSeconds);
}
