import { randomBytes } from "node:crypto";
import { HOUR_SECONDS, is2xx, MINUTE_SECONDS } from "../delivery/policy.ts";
import type { SimulatedProvider } from "../simulated-provider.ts";
import { stripeApi } from "./api.ts";
import { stripe } from "./events.ts";

export const simulatedStripe: SimulatedProvider = {
  format: "stripe",
  renderer: stripe,
  createApi: stripeApi,
  traits: {
    // "Up to three days with an exponential back off", in no particular order, and perhaps more than once.
    delivery: {
      accepts: is2xx,
      answerWithinMs: 20_000,
      waitsSeconds: [
        ...[5 * MINUTE_SECONDS, 30 * MINUTE_SECONDS],
        ...[2, 5, 10, 12, 12, 12, 12].map((hours) => hours * HOUR_SECONDS),
      ],
      order: "unordered",
      concurrency: 8,
      disablesAfterExhausted: null,
    },
    dunning: { retryAfterDays: [3, 8, 15], unpaidForDays: null },
    clockStepSeconds: 1,
    repeatsEventTimes: true,
    signatureHeader: "stripe-signature",
    signsTimestamp: true,
    newCheckoutId: () => `cs_test_${randomBytes(24).toString("hex")}`,
    checkoutLifetimeSeconds: 24 * HOUR_SECONDS,
    portalLifetimeSeconds: HOUR_SECONDS,
    // As the portal is to be set up (docs/providers/stripe.md).
    portalBilling: "prorated now",
    findsCustomersByEmail: false,
    letsPayersLogOut: false,
    changesSeatsInTrial: true,
    checkoutEvents: ["created", "activated", "checkout completed", "charged"],
    disputes: "reported",
    onePerCustomer: false,
  },
};
