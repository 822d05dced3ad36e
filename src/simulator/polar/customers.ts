import { type Context, Hono } from "hono";
import { subscriptionJson } from "../server/event-context.ts";
import { createCustomer } from "../server/pay-checkout.ts";
import { findCustomer, type ProviderSlot, subscriptionsOfCustomer } from "../server/provider-slot.ts";
import type { Customer } from "../server/state.ts";
import { polarCustomer } from "./customer.ts";
import { notFound, readBody, unprocessable } from "./errors.ts";
import { inRequestedOrder, numberedPage } from "./page.ts";
import { isActive } from "./subscriptions.ts";

/** One customer for each address. https://polar.sh/docs/api-reference/customers */
export function polarCustomers(slot: ProviderSlot): Hono {
  const app = new Hono();
  app.post("/customers/", async (c) => {
    const fields = await readBody(c);
    const email = fields.at("email").text() ?? "";
    const externalId = fields.at("external_id").text();
    requireFree(slot, { email, externalId });
    const customer = createCustomer(slot, { email, externalId, data: fields.at("metadata").entries() });
    customer.name = fields.at("name").text();
    return c.json(polarCustomer(customer), 201);
  });
  app.get("/customers/", (c) => {
    const email = c.req.query("email")?.toLowerCase();
    const listed = slot.state.customers.filter(
      (customer) => email === undefined || customer.email.toLowerCase() === email,
    );
    return numberedPage(c, inRequestedOrder(c, listed), polarCustomer);
  });
  for (const path of ["/customers/external/:externalId", "/customers/:id"]) {
    app.get(path, (c) => c.json(polarCustomer(requireCustomer(slot, c))));
    app.get(`${path}/state`, (c) => c.json(customerState(slot, requireCustomer(slot, c))));
    app.patch(path, async (c) => {
      const customer = requireCustomer(slot, c);
      const fields = await readBody(c);
      customer.name = fields.at("name").text() ?? customer.name ?? null;
      if (fields.has("metadata")) customer.data = fields.at("metadata").entries();
      slot.changed();
      return c.json(polarCustomer(customer));
    });
  }
  return app;
}

function requireFree(
  slot: ProviderSlot,
  { email, externalId }: Pick<Customer, "email" | "externalId">,
): void {
  if (!email.includes("@")) throw unprocessable(["email"], "value is not a valid email address");
  const { customers } = slot.state;
  if (customers.some((customer) => customer.email.toLowerCase() === email.toLowerCase()))
    throw unprocessable(["email"], "A customer with this email address already exists.");
  if (externalId !== null && customers.some((customer) => customer.externalId === externalId))
    throw unprocessable(["external_id"], "A customer with this external ID already exists.");
}

function requireCustomer(slot: ProviderSlot, c: Context): Customer {
  const { id, externalId } = c.req.param() as { id?: string; externalId?: string };
  const customer =
    id === undefined
      ? slot.state.customers.find((candidate) => candidate.externalId === externalId)
      : findCustomer(slot, id);
  if (!customer) throw notFound();
  return customer;
}

/** https://polar.sh/docs/api-reference/customers/state */
function customerState(slot: ProviderSlot, customer: Customer): object {
  const active = subscriptionsOfCustomer(slot, customer.id).filter(({ state }) => isActive(state));
  return {
    ...polarCustomer(customer),
    active_subscriptions: active.map((subscription) => subscriptionJson(slot, subscription)),
    granted_benefits: [],
    active_meters: [],
  };
}
