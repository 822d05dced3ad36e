import { advance, nextDueAt } from "../lifecycle/advance.ts";
import { applyCommand, type Command } from "../lifecycle/apply-command.ts";
import { DAY_SECONDS } from "../lifecycle/calendar.ts";
import { seatsWithin } from "../lifecycle/change-items.ts";
import type { Offer } from "../lifecycle/offer.ts";
import { startBilling } from "../lifecycle/start-billing.ts";
import type {
  BillingState,
  Dunning,
  EmittedEvent,
  LifecycleEvent,
  SubscriptionState,
} from "../lifecycle/subscription.ts";
import type { Transition } from "../lifecycle/transition.ts";
import type { Rng } from "./rng.ts";

/** `atSeconds` is by the provider's clock; no two steps of a lifecycle share a second. */
export type LifecycleStep = { event: LifecycleEvent; atSeconds: number; state: SubscriptionState };

export type Lifecycle = { bought: Offer; startedAtSeconds: number; steps: readonly LifecycleStep[] };

export type ScenarioOptions = {
  /** The total number of steps. */
  events: number;
  /** The plans for sale; at least one. */
  offers: readonly Offer[];
  dunning: Dunning;
  /** No step lies after it. */
  nowSeconds: number;
};

const HOUR_SECONDS = 3_600;
const TRIAL_DAYS = 14;
const MAX_PAUSE_SECONDS = 9 * DAY_SECONDS;
const MAX_STEPS = 12;

/** Random lifecycles of subscriptions: bought, changed, sometimes past due, sometimes canceled. */
export function generateLifecycles(rng: Rng, options: ScenarioOptions): Lifecycle[] {
  const lifecycles: Lifecycle[] = [];
  for (let remaining = options.events; remaining > 0; ) {
    const lifecycle = generateLifecycle(rng, options, Math.min(remaining, rng.between(3, MAX_STEPS)));
    lifecycles.push(lifecycle);
    remaining -= lifecycle.steps.length;
  }
  return lifecycles;
}

function generateLifecycle(
  rng: Rng,
  { offers, dunning, nowSeconds }: ScenarioOptions,
  maxSteps: number,
): Lifecycle {
  const maxPeriodDays = offers.some(({ interval }) => interval === "year") ? 366 : 31;
  const maxAgeSeconds = (MAX_STEPS + 1) * maxPeriodDays * DAY_SECONDS;
  const startedAtSeconds = nowSeconds - maxAgeSeconds - rng.between(0, 100 * DAY_SECONDS);
  const bought = rng.pick(offers);
  // One step alone is a subscription that was created without a checkout.
  const hasCheckout = maxSteps > 1;
  const trialDays = hasCheckout && rng.chance(0.2) ? TRIAL_DAYS : 0;
  const seats = rng.between(bought.seats.min, bought.seats.max);
  let billing = startBilling({ offer: bought, seats, trialDays }, startedAtSeconds);
  const steps: LifecycleStep[] = [];
  if (hasCheckout) {
    steps.push({ event: "checkout completed", atSeconds: startedAtSeconds, state: billing.state });
  }
  let atSeconds = startedAtSeconds + rng.between(1, 5);
  steps.push({ event: "created", atSeconds, state: billing.state });
  while (steps.length < maxSteps && billing.state.status !== "canceled") {
    const next = nextStep(rng, { offers, dunning }, billing, atSeconds);
    ({ billing, atSeconds } = next);
    steps.push({ event: next.event, atSeconds, state: billing.state });
  }
  return { bought, startedAtSeconds, steps };
}

type NextStep = { billing: BillingState; atSeconds: number; event: LifecycleEvent };

function nextStep(
  rng: Rng,
  { offers, dunning }: { offers: readonly Offer[]; dunning: Dunning },
  billing: BillingState,
  lastSeconds: number,
): NextStep {
  const dueAt = nextDueAt(billing, dunning) ?? Number.POSITIVE_INFINITY;
  const laterSeconds = lastSeconds + rng.between(HOUR_SECONDS, MAX_PAUSE_SECONDS);
  const command = rng.pick(commandsFor(rng, billing, offers));
  if (command !== null && laterSeconds < dueAt) {
    const step = stepOf(applyCommand(billing, command, laterSeconds), laterSeconds);
    if (step !== null) return step;
  }
  const charged = { ...billing, nextCharge: rng.chance(0.3) ? "fails" : "succeeds" } as const;
  const advanced = advance(charged, dunning, dueAt);
  // Failed charge retries are not reported: time moves on to the next one.
  return stepOf(advanced, dueAt) ?? nextStep(rng, { offers, dunning }, advanced.subscription, dueAt);
}

/** A random change by its likelihood; `null`: nothing until the next due date. */
function commandsFor(
  rng: Rng,
  { state, overdue }: BillingState,
  offers: readonly Offer[],
): readonly (Command | null)[] {
  if (state.cancelAtPeriodEnd) return [{ to: "resume" }, null, null];
  if (overdue !== null) {
    return [{ to: "pay what is owed" }, { to: "pay what is owed" }, { to: "cancel now" }, null];
  }
  if (state.status !== "active") return [null];
  const { min, max } = state.offer.seats;
  const otherOffers = offers.filter(({ planId }) => planId !== state.offer.planId);
  const seats = unchargedChange(state.offer, rng.between(min, max));
  const otherOffer = otherOffers.length > 0 ? rng.pick(otherOffers) : null;
  return [
    ...[seats, seats, seats],
    ...(otherOffer === null ? [] : [unchargedChange(otherOffer, seatsWithin(otherOffer, state.seats))]),
    { to: "cancel at period end" },
    ...[null, null],
  ];
}

/** A scenario reports no payments. */
function unchargedChange(offer: Offer, seats: number): Command {
  return { to: "change items", offer, seats, billing: "never" };
}

/** `null`: nothing to report. */
function stepOf(transition: Transition<BillingState> | string, atSeconds: number): NextStep | null {
  if (typeof transition === "string") return null;
  const event = transition.events.find(isLifecycleEvent);
  return event ? { billing: transition.subscription, atSeconds, event } : null;
}

function isLifecycleEvent(event: EmittedEvent): event is LifecycleEvent {
  return !["charged", "charge failed", "change charged", "restated"].includes(event);
}
