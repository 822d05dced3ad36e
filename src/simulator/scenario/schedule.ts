import { type CorruptionKind, corruptionKinds } from "../delivery/corruption.ts";
import type { SimulatorTraits } from "../simulator-traits.ts";
import { exactShare, type Rng } from "./rng.ts";
import type { Lifecycle } from "./scenario.ts";

/** One delivery: an event, alone or twice at once, a repeat of one, or a corrupted copy of one. */
export type ScheduledDelivery = {
  /** The index of the lifecycle and of its step. */
  lifecycle: number;
  at: number;
} & ({ as: "event" | "twice at once" | "repeat" } | { as: "corrupted"; corruption: CorruptionKind });

/** The remaining deliveries in order. */
export type Schedule = {
  readonly size: number;
  /** The next delivery that may start now; `null` when there is none. */
  next(): ScheduledDelivery | null;
  /** Called when a delivery is done, so that the next one of its lifecycle may start. */
  completed(delivery: ScheduledDelivery): void;
};

export type PlanOptions = {
  /** Shares of the events, 0 to 1. */
  duplicates: number;
  corrupt: number;
  traits: SimulatorTraits;
};

const MAX_REPEAT_DELAY = 3;

/** The deliveries of every lifecycle, in order. */
export function planDeliveries(
  rng: Rng,
  lifecycles: readonly Lifecycle[],
  options: PlanOptions,
): ScheduledDelivery[][] {
  const events = lifecycles.reduce((sum, lifecycle) => sum + lifecycle.steps.length, 0);
  const isRepeated = exactShare(rng, options.duplicates, events);
  const isCorrupted = exactShare(rng, options.corrupt, events);
  const kinds = corruptionKinds(options.traits);
  return lifecycles.map(({ steps }, lifecycle) => {
    const deliveries: ScheduledDelivery[] = [];
    const repeats: { delivery: ScheduledDelivery; after: number }[] = [];
    steps.forEach((_, at) => {
      const repeated = isRepeated();
      const atOnce = repeated && rng.chance(0.5);
      const event: ScheduledDelivery = { lifecycle, at, as: atOnce ? "twice at once" : "event" };
      if (isCorrupted()) {
        const corrupted: ScheduledDelivery = { lifecycle, at, as: "corrupted", corruption: rng.pick(kinds) };
        deliveries.push(...(rng.chance(0.5) ? [corrupted, event] : [event, corrupted]));
      } else {
        deliveries.push(event);
      }
      if (repeated && !atOnce) {
        repeats.push({
          delivery: { lifecycle, at, as: "repeat" },
          after: at + rng.between(0, MAX_REPEAT_DELAY),
        });
      }
      deliveries.push(...repeats.filter(({ after }) => after === at).map(({ delivery }) => delivery));
    });
    deliveries.push(...repeats.filter(({ after }) => after >= steps.length).map(({ delivery }) => delivery));
    return deliveries;
  });
}

/**
 * Keeps each lifecycle's order, starting a delivery after the one before is done; `parallel` lifecycles at a
 * time.
 */
export function orderedSchedule(
  deliveriesOf: readonly (readonly ScheduledDelivery[])[],
  parallel: number,
): Schedule {
  const completed = new Map<number, number>();
  const ready: ScheduledDelivery[] = [];
  let head = 0;
  let started = 0;
  const start = () => {
    const first = deliveriesOf[started]?.[0];
    started += 1;
    if (first) ready.push(first);
  };
  while (started < Math.min(parallel, deliveriesOf.length)) start();
  return {
    size: deliveriesOf.reduce((sum, deliveries) => sum + deliveries.length, 0),
    next: () => {
      const delivery = ready[head] ?? null;
      if (delivery) head += 1;
      return delivery;
    },
    completed: ({ lifecycle }) => {
      const count = (completed.get(lifecycle) ?? 0) + 1;
      completed.set(lifecycle, count);
      const next = deliveriesOf[lifecycle]?.[count];
      if (next) ready.push(next);
      else start();
    },
  };
}

/** All deliveries of all lifecycles in one random order, without waiting. */
export function shuffledSchedule(
  rng: Rng,
  deliveriesOf: readonly (readonly ScheduledDelivery[])[],
): Schedule {
  const deliveries = rng.shuffled(deliveriesOf.flat());
  let head = 0;
  return {
    size: deliveries.length,
    next: () => {
      const delivery = deliveries[head] ?? null;
      head += 1;
      return delivery;
    },
    completed: () => {},
  };
}
