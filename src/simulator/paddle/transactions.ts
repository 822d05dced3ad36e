import { Hono } from "hono";
import { closeCheckout, openCheckout } from "../server/open-checkout.ts";
import { findPayment, paymentContext } from "../server/payments.ts";
import { checkoutUrl, findCheckout, type ProviderSlot } from "../server/provider-slot.ts";
import type { Checkout, SimulatedPayment } from "../server/state.ts";
import { adjustmentsOf } from "./adjustment.ts";
import { body } from "./body.ts";
import { data, noEntity, PaddleProblem } from "./errors.ts";
import { transaction } from "./events.ts";
import { orderOf } from "./order.ts";
import { cursorPage } from "./page.ts";
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
    if (payment !== null) return data(c, paidTransaction(slot, payment));
    return data(c, transactionOf(slot, requireCheckout(slot, id)));
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
    const { offer, seats, data: customData } = orderOf(slot, fields);
    Object.assign(checkout, { offer, seats, data: customData, subscriptionData: customData });
    slot.changed();
    return data(c, transactionOf(slot, checkout));
  });
  app.get("/", (c) => {
    const query = new URL(c.req.url).searchParams;
    const [subscriptionId, status] = [query.get("subscription_id"), query.get("status")];
    const since = Date.parse(query.get("created_at[GTE]") ?? "1970-01-01");
    const transactions = listedTransactions(slot)
      .filter((transaction) => subscriptionId === null || transaction.subscriptionId === subscriptionId)
      .filter(({ status: its }) => status === null || its === status)
      .filter(({ createdAtSeconds }) => createdAtSeconds * 1_000 >= since);
    return cursorPage(c, transactions, {
      path: `${slot.url()}/transactions`,
      idOf: ({ id }) => id,
      show: ({ show }) => show(),
    });
  });
  return app;
}

type ListedTransaction = {
  id: string;
  status: string;
  subscriptionId: string | null;
  createdAtSeconds: number;
  show(): object;
};

/** Paid and unpaid ones, the oldest first. */
function listedTransactions(slot: ProviderSlot): ListedTransaction[] {
  const payments = slot.state.payments.map((payment) => ({
    ...{ id: payment.id, status: "completed", subscriptionId: payment.subscriptionId },
    createdAtSeconds: payment.atSeconds,
    show: () => paidTransaction(slot, payment),
  }));
  const paid = new Set(payments.map(({ id }) => id));
  const unpaid = slot.state.checkouts
    .filter(({ id }) => !paid.has(id))
    .map((checkout) => ({
      ...{ id: checkout.id, status: statusOf(checkout), subscriptionId: checkout.subscriptionId },
      createdAtSeconds: checkout.createdAtSeconds,
      show: () => transactionOf(slot, checkout),
    }));
  return [...payments, ...unpaid].sort((a, b) => a.createdAtSeconds - b.createdAtSeconds);
}

function paidTransaction(slot: ProviderSlot, payment: SimulatedPayment): object {
  return { ...transaction(paymentContext(slot, payment)), adjustments: adjustmentsOf(payment) };
}

function requireCheckout(slot: ProviderSlot, id: string): Checkout {
  const checkout = findCheckout(slot, id);
  if (!checkout) throw noEntity(id);
  return checkout;
}

function transactionOf(slot: ProviderSlot, checkout: Checkout): object {
  const { id, offer, seats, customerId, subscriptionId, createdAtSeconds } = checkout;
  return paddleTransaction({
    ...{ id, offer, seats, customerId, subscriptionId, createdAtSeconds },
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
