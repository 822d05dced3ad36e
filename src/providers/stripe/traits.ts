import type { ProviderTraits } from "../../domain/providers/provider-traits.ts";

export const STRIPE_TRAITS: ProviderTraits = {
  name: "Stripe",
  productionUrl: "https://api.stripe.com",
  apiKey: {
    hint: "a secret or restricted key of Stripe (Developers, API keys)",
    prefixes: ["sk_live_", "sk_test_", "rk_live_", "rk_test_"],
    testPrefixes: ["sk_test_", "rk_test_"],
    lifetimeDays: null,
    expiresAt: () => null,
  },
  unknownSubscriptionId: "sub_0000000000doctor",
  inertEvent: ({ eventId, eventType, at }) => ({
    id: eventId,
    object: "event",
    type: eventType,
    created: Math.floor(at.getTime() / 1000),
    data: { object: {} },
  }),
  testEventMark: { field: "livemode", value: false },
  acknowledgesFailures: false,
  claimsFirst: false,
  listsCustomers: true,
  listsEvents: true,
  losesEventsWhileDisabled: false,
  pastDuePeriodEndsAtNextCharge: false,
  changesAtPeriodEnd: true,
  changesWhileEnding: true,
  changesWhilePastDue: true,
  changesSeatsInTrial: true,
  buyersWriteMetadata: false,
  checkout: { canBeUpdated: false, takesTrialDays: true },
  // https://docs.stripe.com/rate-limits: live mode 100 a second, sandboxes and each endpoint 25.
  requestLimit: () => ({ requests: 25, perSeconds: 1 }),
};
