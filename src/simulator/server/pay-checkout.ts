import type { Discount } from "../lifecycle/discount.ts";
import { startBilling } from "../lifecycle/start-billing.ts";
import { emitEvents } from "./emit-events.ts";
import { nowSeconds, type ProviderSlot, subscriptionsOfCustomer } from "./provider-slot.ts";
import {
  discountNow,
  findCoupon,
  findCouponByCode,
  findPromotionCode,
  isApplicable,
  isRedeemable,
  recordRedemption,
} from "./redeem.ts";
import type { Checkout, Customer, SimulatedSubscription } from "./state.ts";

export type Payment = {
  email: string;
  trialDays: number;
  /**
   * Whether the payer has left the customer that the seller chose, as Paddle's checkout offers by default.
   */
  isLoggedOut: boolean;
  /** The promotion code that was entered; `null`: none. */
  code: string | null;
};

/** The customer pays: creates the subscription. Text: why the provider refuses the payment. */
export function payCheckout(
  slot: ProviderSlot,
  checkout: Checkout,
  { email, trialDays, isLoggedOut, code }: Payment,
): SimulatedSubscription | string {
  const { traits, renderer } = slot;
  const now = nowSeconds(slot);
  const discount = discountFor(slot, checkout, { code, trialDays, startsAtSeconds: now });
  if (typeof discount === "string") return discount;
  const customer = customerFor(slot, checkout, { email, isLoggedOut });
  const running = subscriptionsOfCustomer(slot, customer.id).some(({ state }) => state.status !== "canceled");
  if (traits.onePerCustomer && running) return "You already have an active subscription.";
  const newIds = renderer.newIds(slot.state.run, slot.state.made);
  slot.state.made += 1;
  const ids = { userId: textOf(checkout.data.userId), ...newIds, customerId: customer.id };
  if (discount !== null)
    recordRedemption(slot, discount, {
      subscriptionId: ids.subscriptionId,
      price: checkout.offer.amount * checkout.seats,
    });
  checkout.discount = discount;
  checkout.status = "complete";
  checkout.completedAtSeconds = now;
  checkout.customerId = customer.id;
  checkout.email = email;
  checkout.subscriptionId = ids.subscriptionId;
  const { id, offer, seats, data, subscriptionData, successUrl, cancelUrl, allowPromotionCodes } = checkout;
  const subscription: SimulatedSubscription = {
    ...startBilling({ offer, seats, trialDays, discount }, now),
    ids,
    bought: offer,
    startedAtSeconds: now,
    checkout: {
      id,
      data,
      subscriptionData,
      successUrl,
      cancelUrl,
      email,
      ...(allowPromotionCodes === undefined ? {} : { allowPromotionCodes }),
      externalId: customer.externalId ?? checkout.externalId,
    },
    lastEvent: { event: "created", atSeconds: now },
    eventCount: 0,
  };
  // A trial is not charged yet.
  const events = traits.checkoutEvents.filter((event) => event !== "charged" || trialDays === 0);
  return emitEvents(slot, { subscription, events });
}

/**
 * The discount of the order, or of the entered code; a string says why the code is refused. It starts with the
 * first period, so that it ends with one too.
 */
function discountFor(
  slot: ProviderSlot,
  { discount = null, offer, customerId }: Checkout,
  { code, ...start }: { code: string | null; trialDays: number; startsAtSeconds: number },
): Discount | string | null {
  if (discount !== null)
    return discountNow(slot, discount, { promotionCodeId: discount.promotionCodeId, ...start });
  if (code === null) return null;
  const entered = findPromotionCode(slot, { code });
  const coupon = entered ? findCoupon(slot, entered.couponId) : findCouponByCode(slot, code);
  const isOthers = entered?.customerId != null && entered.customerId !== customerId;
  if (coupon === null || isOthers || !isApplicable(coupon, offer)) return "This code is invalid.";
  if ((entered && !isRedeemable(slot, entered)) || !isRedeemable(slot, coupon))
    return "This code is expired.";
  return discountNow(slot, coupon, { promotionCodeId: entered?.id ?? null, ...start });
}

function customerFor(
  slot: ProviderSlot,
  checkout: Checkout,
  { email, isLoggedOut }: { email: string; isLoggedOut: boolean },
): Customer {
  const { customers } = slot.state;
  const { externalId } = checkout;
  const customerId = isLoggedOut ? null : checkout.customerId;
  const existing =
    customerId !== null
      ? customers.find(({ id }) => id === customerId)
      : slot.traits.findsCustomersByEmail
        ? (customers.find((customer) => externalId !== null && customer.externalId === externalId) ??
          customers.find((customer) => customer.email === email))
        : undefined;
  if (existing) {
    existing.externalId ??= externalId;
    return existing;
  }
  return createCustomer(slot, { email, externalId, data: {} });
}

export function createCustomer(
  slot: ProviderSlot,
  { email, externalId, data }: Pick<Customer, "email" | "externalId" | "data">,
): Customer {
  const { customers, run } = slot.state;
  const { customerId: id } = slot.renderer.newIds(`${run}c`, customers.length);
  const customer: Customer = { id, email, externalId, data, createdAtSeconds: nowSeconds(slot) };
  slot.state.customers.push(customer);
  slot.changed();
  return customer;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
