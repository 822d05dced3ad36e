import { randomUUID } from "node:crypto";
import { HOUR_SECONDS } from "../delivery/policy.ts";
import type { SimulatedProvider } from "../simulated-provider.ts";
import { lemonSqueezyApi } from "./api.ts";
import { lemonSqueezy } from "./events.ts";

export const simulatedLemonSqueezy: SimulatedProvider = {
  format: "lemon-squeezy",
  renderer: lemonSqueezy,
  createApi: lemonSqueezyApi,
  traits: {
    delivery: {
      accepts: (status) => status === 200,
      answerWithinMs: 10_000,
      waitsSeconds: [5, 25, 125],
      order: "unordered",
      concurrency: 4,
      disablesAfterExhausted: null,
    },
    dunning: { retryAfterDays: [3, 6, 10, 14], unpaidForDays: 14 },
    clockStepSeconds: 1,
    repeatsEventTimes: false,
    signatureHeader: "x-signature",
    signsTimestamp: false,
    newCheckoutId: randomUUID,
    checkoutLifetimeSeconds: null,
    portalLifetimeSeconds: 24 * HOUR_SECONDS,
    portalBilling: "prorated next period",
    findsCustomersByEmail: true,
    letsPayersLogOut: false,
    changesSeatsInTrial: false,
    checkoutEvents: ["checkout completed", "created", "charged"],
    // It takes chargebacks on itself, and refunds the seller's customer.
    disputes: "refunded",
    onePerCustomer: false,
  },
};
