import { type Context, Hono } from "hono";
import { type Form, readForm } from "../http/form.ts";
import { matches } from "../http/matches.ts";
import { createCustomer } from "../server/pay-checkout.ts";
import { findCustomer, type ProviderSlot } from "../server/provider-slot.ts";
import type { Customer } from "../server/state.ts";
import { invalid, missing } from "./errors.ts";
import { isCreatedWithin, listResponse } from "./page.ts";

/** Several customers can have the same address. https://docs.stripe.com/api/customers */
export function stripeCustomers(slot: ProviderSlot): Hono {
  const app = new Hono();
  app.post("/", async (c) => {
    const form = await readForm(c);
    const email = emailOf(form) ?? "";
    const data = form.entries("metadata");
    const customer = createCustomer(slot, { email, externalId: data.userId ?? null, data });
    customer.name = form.text("name");
    return c.json(stripeCustomer(customer));
  });
  app.get("/", (c) => {
    const listed = slot.state.customers
      .filter(matches(c, "email", (customer) => customer.email))
      .filter(isCreatedWithin(c, ({ createdAtSeconds }) => createdAtSeconds));
    return listResponse(c, listed.toReversed(), {
      object: "customer",
      url: "/v1/customers",
      idOf: ({ id }) => id,
      show: stripeCustomer,
    });
  });
  app.get("/:id", (c) => c.json(stripeCustomer(requireCustomer(slot, c))));
  app.post("/:id", async (c) => {
    const customer = requireCustomer(slot, c);
    const form = await readForm(c);
    customer.email = emailOf(form) ?? customer.email;
    customer.name = form.text("name") ?? customer.name ?? null;
    customer.data = mergedMetadata(customer.data, form);
    slot.changed();
    return c.json(stripeCustomer(customer));
  });
  return app;
}

export function stripeCustomer({ id, email, name, data, createdAtSeconds }: Customer): object {
  return {
    id,
    object: "customer",
    created: createdAtSeconds,
    livemode: false,
    email: email || null,
    name: name ?? null,
    description: null,
    phone: null,
    address: null,
    balance: 0,
    currency: null,
    default_source: null,
    delinquent: false,
    discount: null,
    invoice_prefix: id.replace(/\W|_/g, "").slice(-8).toUpperCase(),
    next_invoice_sequence: 1,
    invoice_settings: {
      custom_fields: null,
      default_payment_method: null,
      footer: null,
      rendering_options: null,
    },
    metadata: data,
    preferred_locales: [],
    shipping: null,
    tax_exempt: "none",
    test_clock: null,
  };
}

/** Given keys are replaced, and removed by an empty value. https://docs.stripe.com/api/metadata */
export function mergedMetadata(before: Readonly<Record<string, unknown>>, form: Form) {
  const merged = { ...before, ...form.entries("metadata") };
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== ""));
}

function emailOf(form: Form): string | null {
  const email = form.text("email");
  if (email !== null && !/^\S+@\S+$/.test(email))
    throw invalid(`Invalid email address: ${email}`, "email", "email_invalid");
  return email;
}

function requireCustomer(slot: ProviderSlot, c: Context): Customer {
  const id = c.req.param("id") ?? "";
  const customer = findCustomer(slot, id);
  if (!customer) throw missing("customer", id, "id");
  return customer;
}
