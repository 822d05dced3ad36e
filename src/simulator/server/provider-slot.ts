import type { Slot } from "../../domain/slot.ts";
import type { Offer } from "../lifecycle/offer.ts";
import type { Renderer } from "../renderer.ts";
import type { SimulatorTraits } from "../simulator-traits.ts";
import type { Checkout, Customer, SimulatedSubscription, SlotState } from "./state.ts";

/** One slot's side of the simulator: what its provider sells, and what it has sold. */
export type ProviderSlot = {
  readonly name: Slot;
  readonly apiKey: string;
  readonly traits: SimulatorTraits;
  readonly renderer: Renderer;
  readonly offers: readonly Offer[];
  readonly state: SlotState;
  /** By the provider's clock. */
  nowMs(): number;
  /** Where the slot's API and pages are, without a slash at the end. */
  url(): string;
  /** How many seconds of waiting between deliveries pass in one: 1, except in tests. */
  readonly timeScale: number;
  /** Settled events beyond these are forgotten, the oldest first. */
  readonly keptEvents: number;
  /** Where people return to when the checkout or portal was opened without a URL; `null`: nowhere. */
  returnUrl(): string | null;
  /** Called when there is something new to deliver or to store. */
  changed(): void;
};

export function findOffer({ offers }: ProviderSlot, priceId: string): Offer | null {
  return offers.find((offer) => offer.priceId === priceId) ?? null;
}

export function findCheckout({ state }: ProviderSlot, id: string): Checkout | null {
  return state.checkouts.find((checkout) => checkout.id === id) ?? null;
}

export function findSubscription({ state }: ProviderSlot, id: string): SimulatedSubscription | null {
  return state.subscriptions.find(({ ids }) => ids.subscriptionId === id) ?? null;
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
