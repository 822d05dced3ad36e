import { randomUUID } from "node:crypto";
import { HOUR_SECONDS, is2xx, MINUTE_SECONDS } from "../delivery/policy.ts";
import type { SimulatedProvider } from "../simulated-provider.ts";
import { polarApi } from "./api.ts";
import { polar } from "./events.ts";

export const simulatedPolar: SimulatedProvider = {
  format: "polar",
  renderer: polar,
  createApi: polarApi,
  traits: {
    delivery: {
      accepts: is2xx,
      answerWithinMs: 10_000,
      // Ten attempts in all.
      waitsSeconds: [15, 30, ...[1, 2, 4, 8, 16, 32, 60].map((minutes) => minutes * MINUTE_SECONDS)],
      order: "holds young ones back",
      concurrency: 4,
      disablesAfterExhausted: 10,
    },
    dunning: { retryAfterDays: [2, 7, 14, 21], unpaidForDays: null },
    clockStepSeconds: 0.001,
    repeatsEventTimes: false,
    signatureHeader: "webhook-signature",
    signsTimestamp: true,
    newCheckoutId: randomUUID,
    checkoutLifetimeSeconds: 24 * HOUR_SECONDS,
    portalLifetimeSeconds: HOUR_SECONDS,
    // The default of an organization at Polar.
    portalBilling: "prorated next period",
    findsCustomersByEmail: true,
    letsPayersLogOut: false,
    changesSeatsInTrial: true,
    checkoutEvents: ["created", "activated", "checkout completed"],
    disputes: "listed",
    onePerCustomer: true,
  },
};
