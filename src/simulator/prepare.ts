import type { PlanCatalog } from "../domain/plan.ts";
import type { Slot } from "../domain/slot.ts";
import type { WireFormat } from "../providers/adapter.ts";
import { allMixed, type Deck, dealTurns, inOrder } from "./deck.ts";
import { createDice } from "./dice.ts";
import type { Renderer, Subject } from "./formats/renderer.ts";
import { type Expected, expectedOf } from "./model.ts";
import { RENDERERS } from "./renderers.ts";
import { type Life, type Offer, tellLives } from "./story.ts";

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
  /** The same seed tells the same story, each time of other people. */
  seed: number;
  /** 4 to 20 lower-case letters and digits that no other run has. */
  run: string;
  nowSeconds: number;
};

/** A story that is ready to be sent: who lives it, what is sent in which order, and how it must end. */
export type Simulation = {
  slot: Slot;
  run: string;
  renderer: Renderer;
  lives: readonly Life[];
  /** By the number of the life. */
  subjects: readonly Subject[];
  expected: readonly Expected[];
  deck: Deck;
};

/** Enough lives side by side that everybody who sends finds one that is free. */
const LIVES_PER_CONNECTION = 2;

export function prepareSimulation(options: SimulationOptions): Simulation {
  const dice = createDice(options.seed);
  const renderer = RENDERERS[options.format];
  const lives = tellLives(dice, options);
  const subjects = lives.map((_, number) => ({
    userId: `${userPrefix(options.run)}${number}`,
    ...renderer.namesOf(options.run, number),
  }));
  const turns = dealTurns(dice, lives, options);
  return {
    slot: options.slot,
    run: options.run,
    renderer,
    lives,
    subjects,
    expected: lives.map((life, number) => expectedOf(life, subjects[number] as Subject, renderer)),
    deck:
      options.order === "shuffled"
        ? allMixed(dice, turns)
        : inOrder(turns, LIVES_PER_CONNECTION * options.concurrency),
  };
}

/** The ids of a run's users: this and a number from 0. */
export function userPrefix(run: string): string {
  return `sim_${run}_`;
}

/** What the catalog sells in a slot, each plan at its first price. */
export function offersOf(catalog: PlanCatalog, slot: Slot): Offer[] {
  const offers = everyOfferOf(catalog, slot);
  return offers.filter((offer, at) => offers.findIndex(({ planId }) => planId === offer.planId) === at);
}

/** The same with the prices that plans are recognised by beside their first. */
export function everyOfferOf({ plans }: PlanCatalog, slot: Slot): Offer[] {
  return plans.flatMap((plan) => {
    const { amount, currency, interval } = plan.price;
    const sold = { planId: plan.id, planName: plan.name, amount, currency, interval, seats: plan.seats };
    return [plan.priceIds[slot] ?? []].flat().map((priceId) => ({ ...sold, priceId }));
  });
}
