import type { ProviderTraits } from "../../domain/providers/provider-traits.ts";

export const POLAR_TRAITS: ProviderTraits = {
  name: "Polar",
  productionUrl: "https://api.polar.sh",
  apiKey: {
    hint: "an organization access token of Polar (Settings, Developers)",
    prefixes: ["polar_oat_", "polar_pat_", "polar_"],
    testPrefixes: [],
    lifetimeDays: null,
    expiresAt: () => null,
  },
  unknownSubscriptionId: "00000000-0000-4000-8000-000000000000",
  inertEvent: ({ eventType, at }) => ({ type: eventType, timestamp: at.toISOString(), data: {} }),
  testEventMark: null,
  acknowledgesFailures: true,
  claimsFirst: false,
  listsCustomers: false,
  listsEvents: true,
  losesEventsWhileDisabled: true,
  pastDuePeriodEndsAtNextCharge: false,
  changesAtPeriodEnd: true,
  // Refused with `AlreadyCanceledSubscription`, for the product as for the seats.
  changesWhileEnding: false,
  changesWhilePastDue: true,
  changesSeatsInTrial: true,
  buyersWriteMetadata: false,
  // Unless the organization allows several subscriptions per customer, which our guide warns about.
  checkout: { canBeUpdated: false, takesTrialDays: true },
  requestLimit: (apiUrl) => ({ requests: apiUrl.includes("sandbox") ? 100 : 500, perSeconds: 60 }),
};
