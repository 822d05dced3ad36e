import { randomBytes } from "node:crypto";
import { Hono } from "hono";
import { readForm } from "../http/form.ts";
import { checkParameters } from "../http/parameters.ts";
import type { ProviderSlot } from "../server/provider-slot.ts";
import { stripeCatalog } from "./catalog.ts";
import { stripeCoupons } from "./coupons.ts";
import { stripeCustomers } from "./customers.ts";
import {
  rememberAnswers,
  requireStripeKey,
  StripeProblem,
  unknownParameter,
  unsupportedValue,
} from "./errors.ts";
import { expandResponses } from "./expand.ts";
import { stripeInvoices } from "./invoices.ts";
import { stripeEvents } from "./list-events.ts";
import { STRIPE_PARAMETERS } from "./parameters.ts";
import { portalSession } from "./portal-session.ts";
import { invoicePreview } from "./preview.ts";
import { stripePromotionCodes } from "./promotion-codes.ts";
import { stripeSchedules } from "./schedules.ts";
import { stripeSessions } from "./sessions.ts";
import { stripeSubscriptions } from "./subscriptions.ts";

/** https://docs.stripe.com/api: the part that a seller of subscriptions needs. */
export function stripeApi(slot: ProviderSlot): Hono {
  const app = new Hono();
  app.onError((error, c) => {
    if (error instanceof StripeProblem) return c.json({ error: error.body }, error.status);
    throw error;
  });
  app.use(async (c, next) => {
    c.header("Request-Id", `req_${randomBytes(7).toString("hex")}`);
    await next();
  });
  app.use(requireStripeKey(slot.apiKey));
  app.use(
    checkParameters({
      table: STRIPE_PARAMETERS,
      body: "form",
      mountedAt: `/${slot.name}`,
      unknownParameter,
      unsupportedValue,
    }),
  );
  app.use(rememberAnswers(slot), expandResponses(slot));
  app.route("/v1/checkout/sessions", stripeSessions(slot));
  app.post("/v1/billing_portal/sessions", async (c) => c.json(portalSession(slot, await readForm(c))));
  app.route("/v1/subscriptions", stripeSubscriptions(slot));
  app.post("/v1/invoices/create_preview", invoicePreview(slot));
  app.route("/v1", stripeInvoices(slot));
  app.route("/v1", stripeCatalog(slot));
  app.route("/v1/coupons", stripeCoupons(slot));
  app.route("/v1/promotion_codes", stripePromotionCodes(slot));
  app.route("/v1/customers", stripeCustomers(slot));
  app.route("/v1/subscription_schedules", stripeSchedules(slot));
  app.route("/v1/events", stripeEvents(slot));
  app.all("*", (c) => {
    const message = `Unrecognized request URL (${c.req.method}: ${c.req.path}).`;
    throw new StripeProblem(404, { type: "invalid_request_error", message });
  });
  return app;
}
