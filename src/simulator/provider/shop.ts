import type { Slot } from "../../domain/slot.ts";
import type { Renderer } from "../formats/renderer.ts";
import type { Offer } from "../story.ts";
import type { Account, Checkout, Customer, SlotState } from "./state.ts";

/** One slot's side of the provider: what it sells, and what it has sold. */
export type Shop = {
  readonly slot: Slot;
  readonly apiKey: string;
  readonly renderer: Renderer;
  readonly offers: readonly Offer[];
  readonly state: SlotState;
  /** By the provider's clock. */
  nowMs(): number;
  /** Where the slot's API and pages are, without a slash at the end. */
  url(): string;
  /** How many seconds of waiting between deliveries pass in one: 1, but for those who test. */
  readonly haste: number;
  /** Where people go back to when whoever sent them did not say; `null`: nowhere. */
  backTo(): string | null;
  /** To be told when there is something new to deliver or to keep. */
  changed(): void;
};

export function offerOf({ offers }: Shop, priceId: string): Offer | null {
  return offers.find((offer) => offer.priceId === priceId) ?? null;
}

export function checkoutOf({ state }: Shop, id: string): Checkout | null {
  return state.checkouts.find((checkout) => checkout.id === id) ?? null;
}

export function accountOf({ state }: Shop, subscriptionId: string): Account | null {
  return state.accounts.find(({ subject }) => subject.subscriptionId === subscriptionId) ?? null;
}

export function accountsOf({ state }: Shop, customerId: string): Account[] {
  return state.accounts.filter(({ subject }) => subject.customerId === customerId);
}

export function customerOf({ state }: Shop, id: string): Customer | null {
  return state.customers.find((customer) => customer.id === id) ?? null;
}

export function checkoutUrl(shop: Shop, { id }: Pick<Checkout, "id">): string {
  return `${shop.url()}/checkout/${id}`;
}

/** The smallest step of the provider's clock that its events tell of. */
export function tickSeconds({ state: { format } }: Shop): number {
  return format === "paddle" || format === "polar" ? 0.001 : 1;
}

export function nowSeconds(shop: Shop): number {
  return tickSeconds(shop) === 1 ? Math.floor(shop.nowMs() / 1_000) : shop.nowMs() / 1_000;
}
