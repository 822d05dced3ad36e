import type { Slot } from "../../domain/slot.ts";
import type { Offer } from "../lifecycle/offer.ts";
import type { Renderer } from "../renderer.ts";
import type { SimulatorTraits } from "../simulator-traits.ts";
import type { Checkout, Customer, SimulatedSubscription, SlotState } from "./state.ts";

/** One slot of the simulator: its offers and its sales. */
export type ProviderSlot = {
  readonly name: Slot;
  readonly apiKey: string;
  readonly traits: SimulatorTraits;
  readonly renderer: Renderer;
  readonly offers: readonly Offer[];
  readonly state: SlotState;
  /** By the provider's clock. */
  nowMs(): number;
  /** The base URL of the slot's API and pages, without a trailing slash. */
  url(): string;
  /** How many seconds of delivery pauses pass per second: 1, except in tests. */
  readonly timeScale: number;
  /** Older settled events beyond this number are dropped. */
  readonly keptEvents: number;
  /** The fallback return URL of checkout and portal; `null`: none. */
  returnUrl(): string | null;
  /** Called when there is something to deliver or to store. */
  changed(): void;
};

export function findOffer({ offers }: ProviderSlot, priceId: string): Offer | null {
  return offers.find((offer) => offer.priceId === priceId) ?? null;
}

export function findCheckout({ state }: ProviderSlot, id: string): Checkout | null {
  return state.checkouts.find((checkout) => checkout.id === id) ?? null;
}

export function findSubscription({ state }: ProviderSlot, id: string): SimulatedSubscription | null {
  const position = positionsOf(state.subscriptions).get(id);
  return position === undefined ? null : (state.subscriptions[position] ?? null);
}

const POSITIONS = new WeakMap<readonly SimulatedSubscription[], Map<string, number>>();

/** Subscriptions are added and replaced, but never removed or moved. */
function positionsOf(subscriptions: readonly SimulatedSubscription[]): ReadonlyMap<string, number> {
  const positions = POSITIONS.get(subscriptions) ?? new Map<string, number>();
  POSITIONS.set(subscriptions, positions);
  for (let at = positions.size; at < subscriptions.length; at += 1)
    positions.set((subscriptions[at] as SimulatedSubscription).ids.subscriptionId, at);
  return positions;
}

export function subscriptionsOfCustomer(
  { state }: ProviderSlot,
  customerId: string,
): SimulatedSubscription[] {
  return state.subscriptions.filter(({ ids }) => ids.customerId === customerId);
}

export function findCustomer({ state }: ProviderSlot, id: string): Customer | null {
  return state.customers.find((customer) => customer.id === id) ?? null;
}

export function checkoutUrl(slot: ProviderSlot, { id }: Pick<Checkout, "id">): string {
  return `${slot.url()}/checkout/${id}`;
}

export function nowSeconds({ traits, nowMs }: ProviderSlot): number {
  return traits.clockStepSeconds === 1 ? Math.floor(nowMs() / 1_000) : nowMs() / 1_000;
}
