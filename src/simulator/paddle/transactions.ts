import { type Context, Hono } from "hono";
import { matchesAny } from "../http/matches.ts";
import { chargeLines, chargeTotals } from "../lifecycle/charge.ts";
import { checkoutState } from "../server/checkout-price.ts";
import { closeCheckout, openCheckout } from "../server/open-checkout.ts";
import { findPayment, hasFailed, paymentContext } from "../server/payments.ts";
import {
  checkoutUrl,
  findCheckout,
  findCustomer,
  findSubscription,
  type ProviderSlot,
} from "../server/provider-slot.ts";
import type { Checkout, SimulatedPayment } from "../server/state.ts";
import { adjustmentsOf } from "./adjustment.ts";
import { body } from "./body.ts";
import { customerJson } from "./customers.ts";
import { data, noEntity, PaddleProblem } from "./errors.ts";
import { transaction } from "./events.ts";
import { orderOf } from "./order.ts";
import { cursorPage, isIncluded } from "./page.ts";
import { requestedDiscount } from "./requested-discount.ts";
import { paddleTransaction } from "./transaction.ts";

/** A checkout is a transaction that has not been paid yet. */
export function paddleTransactions(slot: ProviderSlot): Hono {
  const app = new Hono();
  app.post("/", async (c) => {
    const checkout = openCheckout(slot, orderOf(slot, await body(c)));
    return data(c, transactionOf(slot, checkout), 201);
  });
  app.get("/:id", (c) => {
    const id = c.req.param("id");
    const payment = findPayment(slot, id);
    const listed =
      payment === null ? fromCheckout(slot, requireCheckout(slot, id)) : fromPayment(slot, payment);
    return data(c, withIncluded(c, slot, listed));
  });
  app.patch("/:id", async (c) => {
    const checkout = requireCheckout(slot, c.req.param("id"));
    const fields = await body(c);
    if (checkout.status !== "open") {
      const status = checkout.status === "complete" ? "completed" : "canceled";
      throw new PaddleProblem(400, "transaction_immutable", `cannot update a transaction that is ${status}`);
    }
    if (fields.at("status").text() === "canceled") {
      return data(c, transactionOf(slot, closeCheckout(slot, checkout)));
    }
    if (fields.has("items")) {
      const { offer, seats } = orderOf(slot, fields);
      Object.assign(checkout, { offer, seats });
    }
    if (fields.has("discount_id"))
      checkout.discount = requestedDiscount(slot, fields.at("discount_id"), "discount_id", checkout.offer);
    if (fields.has("custom_data")) {
      const customData = fields.at("custom_data").entries();
      Object.assign(checkout, { data: customData, subscriptionData: customData });
    }
    slot.changed();
    return data(c, transactionOf(slot, checkout));
  });
  app.get("/", (c) => {
    const since = Date.parse(c.req.query("created_at[GTE]") ?? "1970-01-01");
    const listed = listedTransactions(slot)
      .filter(matchesAny(c, "subscription_id", ({ subscriptionId }) => subscriptionId))
      .filter(matchesAny(c, "customer_id", ({ customerId }) => customerId))
      .filter(matchesAny(c, "status", ({ status }) => status))
      .filter(matchesAny(c, "origin", ({ origin }) => origin))
      .filter(({ createdAtSeconds }) => createdAtSeconds * 1_000 >= since);
    return cursorPage(c, slot, listed, {
      path: "/transactions",
      maxPageSize: MAX_PAGE_SIZE,
      idOf: ({ id }) => id,
      show: (transaction) => withIncluded(c, slot, transaction),
    });
  });
  return app;
}

const MAX_PAGE_SIZE = 30;

type ListedTransaction = {
  id: string;
  status: string;
  origin: string;
  customerId: string | null;
  subscriptionId: string | null;
  createdAtSeconds: number;
  payment: SimulatedPayment | null;
  show(): object;
};

/** Paid and unpaid ones, the oldest first. */
function listedTransactions(slot: ProviderSlot): ListedTransaction[] {
  const payments = slot.state.payments.map((payment) => fromPayment(slot, payment));
  const paid = new Set(payments.map(({ id }) => id));
  const unpaid = slot.state.checkouts.filter(({ id }) => !paid.has(id));
  return [...payments, ...unpaid.map((checkout) => fromCheckout(slot, checkout))].sort(
    (a, b) => a.createdAtSeconds - b.createdAtSeconds,
  );
}

function fromPayment(slot: ProviderSlot, payment: SimulatedPayment): ListedTransaction {
  const { id, subscriptionId, event, atSeconds } = payment;
  return {
    id,
    subscriptionId,
    payment,
    createdAtSeconds: atSeconds,
    status: hasFailed(payment) ? "past_due" : "completed",
    origin: originOf(event),
    customerId: findSubscription(slot, subscriptionId)?.ids.customerId ?? null,
    show: () => transaction(paymentContext(slot, payment)),
  };
}

function originOf(event: SimulatedPayment["event"]): string {
  if (event === "change charged") return "subscription_update";
  return event === "checkout completed" ? "api" : "subscription_recurring";
}

function fromCheckout(slot: ProviderSlot, checkout: Checkout): ListedTransaction {
  const { id, subscriptionId, customerId, createdAtSeconds } = checkout;
  return {
    id,
    subscriptionId,
    customerId,
    createdAtSeconds,
    payment: null,
    origin: "api",
    status: statusOf(checkout),
    show: () => transactionOf(slot, checkout),
  };
}

function withIncluded(c: Context, slot: ProviderSlot, listed: ListedTransaction): object {
  const { payment, customerId } = listed;
  const customer = customerId === null ? null : findCustomer(slot, customerId);
  return {
    ...listed.show(),
    ...(isIncluded(c, "adjustments") ? { adjustments: payment === null ? [] : adjustmentsOf(payment) } : {}),
    ...(isIncluded(c, "customer") ? { customer: customer && customerJson(customer) } : {}),
  };
}

function requireCheckout(slot: ProviderSlot, id: string): Checkout {
  const checkout = findCheckout(slot, id);
  if (!checkout) throw noEntity(id);
  return checkout;
}

function transactionOf(slot: ProviderSlot, checkout: Checkout): object {
  const { id, offer, customerId, subscriptionId, createdAtSeconds } = checkout;
  const state = checkoutState(checkout);
  return paddleTransaction({
    id,
    offer,
    customerId,
    subscriptionId,
    createdAtSeconds,
    lines: chargeLines(state),
    totals: chargeTotals(state),
    discountId: checkout.discount?.id ?? null,
    status: statusOf(checkout),
    origin: "api",
    customData: checkout.data,
    period: null,
    checkoutUrl: checkoutUrl(slot, checkout),
    updatedAtSeconds: checkout.completedAtSeconds ?? createdAtSeconds,
  });
}

function statusOf({ status }: Checkout): "ready" | "completed" | "canceled" {
  return status === "complete" ? "completed" : status === "open" ? "ready" : "canceled";
}
