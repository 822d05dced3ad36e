import { Hono } from "hono";
import { rfc3339 } from "../rfc3339.ts";
import { createCustomer } from "../server/pay-checkout.ts";
import { findCustomer, type ProviderSlot } from "../server/provider-slot.ts";
import type { Customer } from "../server/state.ts";
import { body } from "./body.ts";
import { data, invalidField, noEntity, PaddleProblem, paged } from "./errors.ts";
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
    return data(c, customerJson(customer), 201);
  });
  app.get("/", (c) => {
    const emails = c.req.query("email")?.split(",");
    const ids = c.req.query("id")?.split(",");
    const customers = slot.state.customers.filter(
      ({ id, email }) => (emails?.includes(email) ?? true) && (ids?.includes(id) ?? true),
    );
    const pagination = { per_page: 50, next: c.req.url, has_more: false, estimated_total: customers.length };
    return paged(c, customers.map(customerJson), pagination);
  });
  app.get("/:id", (c) => data(c, customerJson(requireCustomer(slot, c.req.param("id")))));
  app.post("/:id/portal-sessions", async (c) => {
    const { id } = requireCustomer(slot, c.req.param("id"));
    const subscriptionIds = Object.values((await body(c)).at("subscription_ids").entries());
    return data(c, portalSession(slot, id, subscriptionIds), 201);
  });
  return app;
}

export function requireCustomer(slot: ProviderSlot, id: string): Customer {
  const customer = findCustomer(slot, id);
  if (!customer) throw noEntity(id);
  return customer;
}

function customerJson({ id, email, externalId, createdAtSeconds }: Customer): object {
  const createdAt = rfc3339(createdAtSeconds);
  return {
    ...{ id, email, name: null, locale: "en", status: "active", marketing_consent: false },
    ...{
      custom_data: externalId === null ? null : { userId: externalId },
      import_meta: null,
      created_at: createdAt,
      updated_at: createdAt,
    },
  };
}
