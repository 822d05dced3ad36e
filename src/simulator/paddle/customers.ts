import { Hono } from "hono";
import { matchesAny } from "../http/matches.ts";
import { rfc3339 } from "../rfc3339.ts";
import { createCustomer } from "../server/pay-checkout.ts";
import { findCustomer, type ProviderSlot } from "../server/provider-slot.ts";
import type { Customer } from "../server/state.ts";
import { body } from "./body.ts";
import { data, invalidField, noEntity, PaddleProblem } from "./errors.ts";
import { cursorPage } from "./page.ts";
import { portalSession } from "./portal-session.ts";

export function paddleCustomers(slot: ProviderSlot): Hono {
  const app = new Hono();
  app.post("/", async (c) => {
    const fields = await body(c);
    const email = fields.at("email").text();
    if (!email?.includes("@")) throw invalidField("email", "must be a valid email address");
    const existing = slot.state.customers.find((customer) => customer.email === email);
    if (existing) {
      throw new PaddleProblem(
        409,
        "customer_already_exists",
        `customer email conflicts with customer of id ${existing.id}`,
      );
    }
    const customData = fields.at("custom_data");
    const externalId = customData.at("userId").text();
    const customer = createCustomer(slot, { email, externalId, data: customData.entries() });
    customer.name = fields.at("name").text();
    return data(c, customerJson(customer), 201);
  });
  app.get("/", (c) => {
    const listed = slot.state.customers
      .filter(matchesAny(c, "email", ({ email }) => email))
      .filter(matchesAny(c, "status", () => "active"));
    return cursorPage(c, slot, listed, { path: "/customers", idOf: ({ id }) => id, show: customerJson });
  });
  app.patch("/:id", async (c) => {
    const customer = requireCustomer(slot, c.req.param("id"));
    const fields = await body(c);
    if (fields.has("name")) customer.name = fields.at("name").text();
    if (fields.has("custom_data")) customer.data = fields.at("custom_data").entries();
    slot.changed();
    return data(c, customerJson(customer));
  });
  app.get("/:id", (c) => data(c, customerJson(requireCustomer(slot, c.req.param("id")))));
  app.post("/:id/portal-sessions", async (c) => {
    const { id } = requireCustomer(slot, c.req.param("id"));
    const subscriptionIds = (await body(c)).at("subscription_ids").texts();
    return data(c, portalSession(slot, id, subscriptionIds), 201);
  });
  return app;
}

export function requireCustomer(slot: ProviderSlot, id: string): Customer {
  const customer = findCustomer(slot, id);
  if (!customer) throw noEntity(id);
  return customer;
}

export function customerJson(customer: Customer): object {
  const { id, email, createdAtSeconds } = customer;
  const createdAt = rfc3339(createdAtSeconds);
  return {
    id,
    email,
    name: customer.name ?? null,
    locale: "en",
    status: "active",
    marketing_consent: false,
    custom_data: Object.keys(customer.data).length === 0 ? null : customer.data,
    import_meta: null,
    created_at: createdAt,
    updated_at: createdAt,
  };
}
