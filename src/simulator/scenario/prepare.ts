import { type PlanCatalog, priceIdsIn, pricesOf } from "../../domain/plans/plan.ts";
import type { Slot } from "../../domain/slot.ts";
import type { WireFormat } from "../../providers/adapter.ts";
import { firstOffers, type Offer } from "../lifecycle/offer.ts";
import { simulatedProviderOf } from "../registry.ts";
import type { SubscriptionIds } from "../renderer.ts";
import type { SimulatedProvider } from "../simulated-provider.ts";
import { type Expected, finalState } from "./expected-state.ts";
import { createRng } from "./rng.ts";
import { generateLifecycles, type Lifecycle } from "./scenario.ts";
import { orderedSchedule, planDeliveries, type Schedule, shuffledSchedule } from "./schedule.ts";

export type SimulationOptions = {
  slot: Slot;
  format: WireFormat;
  offers: readonly Offer[];
  events: number;
  /** Shares of the events, 0 to 1. */
  duplicates: number;
  corrupt: number;
  order: "as it happened" | "shuffled";
  concurrency: number;
  /** The same seed gives the same scenario, with different people each time. */
  seed: number;
  /** 4 to 20 lower-case letters and digits that no other run has. */
  run: string;
  nowSeconds: number;
};

/** A scenario that is ready to be sent: its users, the order of its deliveries, and the expected result. */
export type Simulation = {
  slot: Slot;
  run: string;
  provider: SimulatedProvider;
  lifecycles: readonly Lifecycle[];
  /** By the number of the lifecycle. */
  ids: readonly SubscriptionIds[];
  expected: readonly Expected[];
  schedule: Schedule;
};

/** Enough in parallel that every connection is kept busy. */
const LIFECYCLES_PER_CONNECTION = 2;

export function prepareSimulation(options: SimulationOptions): Simulation {
  const rng = createRng(options.seed);
  const provider = simulatedProviderOf(options.format);
  const { renderer, traits } = provider;
  const lifecycles = generateLifecycles(rng, { ...options, dunning: traits.dunning });
  const ids = lifecycles.map((_, number) => ({
    userId: `${userPrefix(options.run)}${number}`,
    ...renderer.newIds(options.run, number),
  }));
  const deliveries = planDeliveries(rng, lifecycles, { ...options, traits });
  return {
    slot: options.slot,
    run: options.run,
    provider,
    lifecycles,
    ids,
    expected: lifecycles.map((lifecycle, number) =>
      finalState(lifecycle, ids[number] as SubscriptionIds, renderer),
    ),
    schedule:
      options.order === "shuffled"
        ? shuffledSchedule(rng, deliveries)
        : orderedSchedule(deliveries, LIFECYCLES_PER_CONNECTION * options.concurrency),
  };
}

/** The prefix of a run's user ids, followed by a number from 0. */
export function userPrefix(run: string): string {
  return `sim_${run}_`;
}

/** The catalog's plans in a slot, each at its first price. */
export function offersOf(catalog: PlanCatalog, slot: Slot): Offer[] {
  return firstOffers(everyOfferOf(catalog, slot));
}

/** The same including the plans' other prices. */
export function everyOfferOf({ plans }: PlanCatalog, slot: Slot): Offer[] {
  return plans.flatMap((plan) => {
    return pricesOf(plan).flatMap(({ amount, currency, interval, priceIds }) => {
      const sold = { planId: plan.id, planName: plan.name, amount, currency, interval, seats: plan.seats };
      return priceIdsIn(slot, { priceIds }).map((priceId) => ({ ...sold, priceId }));
    });
  });
}
