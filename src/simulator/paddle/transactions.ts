import { Hono } from "hono";
import { closeCheckout, openCheckout } from "../server/open-checkout.ts";
import { checkoutUrl, findCheckout, type ProviderSlot } from "../server/provider-slot.ts";
import type { Checkout } from "../server/state.ts";
import { body } from "./body.ts";
import { data, noEntity, PaddleProblem, paged } from "./errors.ts";
import { orderOf } from "./order.ts";
import { paddleTransaction } from "./transaction.ts";

/** A checkout is a transaction that has not been paid yet. */
export function paddleTransactions(slot: ProviderSlot): Hono {
  const app = new Hono();
  app.post("/", async (c) => {
    const checkout = openCheckout(slot, orderOf(slot, await body(c)));
    return data(c, transactionOf(slot, checkout), 201);
  });
  app.get("/:id", (c) => {
    const checkout = requireCheckout(slot, c.req.param("id"));
    return data(c, transactionOf(slot, checkout));
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
    const subscriptionId = c.req.query("subscription_id");
    const status = c.req.query("status");
    const transactions = slot.state.checkouts
      .filter((checkout) => subscriptionId === undefined || checkout.subscriptionId === subscriptionId)
      .filter((checkout) => status !== "completed" || checkout.status === "complete")
      .map((checkout) => transactionOf(slot, checkout));
    return paged(c, transactions, {
      per_page: 50,
      next: c.req.url,
      has_more: false,
      estimated_total: transactions.length,
    });
  });
  return app;
}

function requireCheckout(slot: ProviderSlot, id: string): Checkout {
  const checkout = findCheckout(slot, id);
  if (!checkout) throw noEntity(id);
  return checkout;
}

function transactionOf(slot: ProviderSlot, checkout: Checkout): object {
  const { id, status, offer, seats, customerId, subscriptionId, createdAtSeconds } = checkout;
  return paddleTransaction({
    ...{ id, offer, seats, customerId, subscriptionId, createdAtSeconds },
    status: status === "complete" ? "completed" : status === "open" ? "ready" : "canceled",
    origin: "api",
    customData: checkout.data,
    period: null,
    checkoutUrl: checkoutUrl(slot, checkout),
    updatedAtSeconds: checkout.completedAtSeconds ?? createdAtSeconds,
  });
}
