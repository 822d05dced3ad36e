import { Hono } from "hono";
import { createCustomer } from "../server/pay-checkout.ts";
import { findCustomer, type ProviderSlot } from "../server/provider-slot.ts";
import type { Customer } from "../server/state.ts";
import { customer, STORE_ID } from "./documents.ts";
import { document, LemonSqueezyProblem, notFound, readBody } from "./errors.ts";
import { isAllowed, numberedPage } from "./page.ts";

/** https://docs.lemonsqueezy.com/api/customers */
export function lemonSqueezyCustomers(slot: ProviderSlot): Hono {
  const app = new Hono();
  app.post("/", async (c) => {
    const attributes = (await readBody(c)).at("data").at("attributes");
    const email = attributes.at("email").text() ?? "";
    const isTaken = slot.state.customers.some((existing) => existing.email === email);
    if (isTaken || !email.includes("@")) {
      const problem = isTaken ? "has already been taken" : "must be a valid email address";
      throw new LemonSqueezyProblem(422, `The email ${problem}.`, { pointer: "/data/attributes/email" });
    }
    const created = createCustomer(slot, { email, externalId: null, data: {} });
    created.name = attributes.at("name").text();
    return document(c, { data: customer(slot, created) }, 201);
  });
  app.get("/", (c) => {
    const listed = slot.state.customers
      .filter(isAllowed(c, "email", ({ email }) => email))
      .filter(isAllowed(c, "store_id", () => STORE_ID));
    return numberedPage(c, slot, listed.toReversed(), (listedCustomer) => customer(slot, listedCustomer));
  });
  app.get("/:id", (c) => document(c, { data: customer(slot, requireCustomer(slot, c.req.param("id"))) }));
  app.patch("/:id", async (c) => {
    const existing = requireCustomer(slot, c.req.param("id"));
    const attributes = (await readBody(c)).at("data").at("attributes");
    existing.name = attributes.at("name").text() ?? existing.name ?? null;
    slot.changed();
    return document(c, { data: customer(slot, existing) });
  });
  return app;
}

function requireCustomer(slot: ProviderSlot, id: string): Customer {
  const existing = findCustomer(slot, id);
  if (!existing) throw notFound();
  return existing;
}
