import { randomBytes } from "node:crypto";
import { HOUR_SECONDS, is2xx, MINUTE_SECONDS } from "../delivery/policy.ts";
import type { SimulatedProvider } from "../simulated-provider.ts";
import { paddleApi } from "./api.ts";
import { paddle } from "./events.ts";

const times = (count: number, seconds: number) => Array.from({ length: count }, () => seconds);

export const simulatedPaddle: SimulatedProvider = {
  format: "paddle",
  renderer: paddle,
  createApi: paddleApi,
  traits: {
    // 60 retries in three days: 20 in the first hour, 47 in the first day.
    delivery: {
      accepts: is2xx,
      answerWithinMs: 5_000,
      waitsSeconds: [
        ...times(20, 3 * MINUTE_SECONDS),
        ...times(27, 51 * MINUTE_SECONDS),
        ...times(13, 3.7 * HOUR_SECONDS),
      ],
      order: "unordered",
      concurrency: 4,
      disablesAfterExhausted: null,
    },
    dunning: { retryAfterDays: [2, 7, 14, 30], unpaidForDays: null },
    clockStepSeconds: 0.001,
    repeatsEventTimes: false,
    signatureHeader: "paddle-signature",
    signsTimestamp: true,
    newCheckoutId: () => `txn_${randomBytes(13).toString("hex")}`,
    checkoutLifetimeSeconds: null,
    portalLifetimeSeconds: 24 * HOUR_SECONDS,
    // Paddle's own portal offers no changes: sellers make them by the API.
    portalBilling: "prorated now",
    findsCustomersByEmail: true,
    letsPayersLogOut: true,
    changesSeatsInTrial: true,
    checkoutEvents: ["created", "activated", "checkout completed"],
    disputes: "reported",
    onePerCustomer: false,
  },
};
