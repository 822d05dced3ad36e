import { DAY_SECONDS, intervalsAfter } from "./calendar.ts";
import { nowSeconds, type Shop } from "./shop.ts";
import type { Account, Checkout, Customer } from "./state.ts";
import { tell } from "./tell.ts";

export type Payment = { email: string; seats: number; trialDays: number };

/** The customer has paid: from now on there is a subscription. */
export function payCheckout(shop: Shop, checkout: Checkout, payment: Payment): Account {
  const now = nowSeconds(shop);
  const customer = customerFor(shop, checkout, payment.email, now);
  const names = shop.renderer.namesOf(shop.state.run, shop.state.made);
  shop.state.made += 1;
  const subject = { userId: textOf(checkout.data.userId), ...names, customerId: customer.id };
  checkout.seats = payment.seats;
  checkout.status = "complete";
  checkout.completedAtSeconds = now;
  checkout.customerId = customer.id;
  checkout.email = payment.email;
  checkout.subscriptionId = subject.subscriptionId;
  const { id, offer, data, subscriptionData, successUrl, cancelUrl } = checkout;
  const isTrial = payment.trialDays > 0;
  const account: Account = {
    subject,
    bought: offer,
    startedAtSeconds: now,
    checkout: {
      ...{ id, data, subscriptionData, successUrl, cancelUrl },
      ...{ email: payment.email, externalId: customer.externalId ?? checkout.externalId },
    },
    step: {
      happening: "checkout completed",
      atSeconds: now,
      standing: {
        offer,
        seats: payment.seats,
        status: isTrial ? "trialing" : "active",
        cancelAtPeriodEnd: false,
        periodStartSeconds: now,
        periodEndSeconds: isTrial
          ? now + payment.trialDays * DAY_SECONDS
          : intervalsAfter(now, 1, offer.interval),
      },
    },
    at: -1,
    anchorSeconds: now,
    periods: 1,
    nextCharge: "succeeds",
    arrears: null,
  };
  return tell(shop, { account, told: ["checkout completed", "created"] });
}

// Stripe makes a new customer for each checkout that names none; the others know people by their address.
function customerFor(shop: Shop, checkout: Checkout, email: string, now: number): Customer {
  const { customers, format, run } = shop.state;
  const { customerId, externalId } = checkout;
  const known = customers.find(
    (customer) =>
      customer.id === customerId ||
      (externalId !== null && customer.externalId === externalId) ||
      (format !== "stripe" && customerId === null && customer.email === email),
  );
  if (known) {
    known.externalId ??= externalId;
    return known;
  }
  const { customerId: id } = shop.renderer.namesOf(`${run}c`, customers.length);
  return newCustomer(shop, { id: customerId ?? id, email, externalId, createdAtSeconds: now });
}

export function newCustomer(shop: Shop, customer: Customer): Customer {
  shop.state.customers.push(customer);
  shop.changed();
  return customer;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
