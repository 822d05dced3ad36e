import type { ProviderTraits } from "../../domain/providers/provider-traits.ts";

export const PADDLE_TRAITS: ProviderTraits = {
  name: "Paddle",
  productionUrl: "https://api.paddle.com",
  apiKey: {
    hint: "an API key of Paddle (Developer tools, Authentication)",
    prefixes: ["pdl_live_apikey_", "pdl_sdbx_apikey_", "pdl_"],
    testPrefixes: ["pdl_sdbx_"],
    // The default for a new key; the key itself does not contain it.
    lifetimeDays: 90,
    expiresAt: () => null,
  },
  unknownSubscriptionId: "sub_00000000000000000000doctor",
  inertEvent: ({ eventId, eventType, at }) => ({
    event_id: eventId,
    event_type: eventType,
    occurred_at: at.toISOString(),
    data: {},
  }),
  testEventMark: null,
  acknowledgesFailures: false,
  claimsFirst: false,
  listsCustomers: false,
  listsEvents: true,
  losesEventsWhileDisabled: false,
  pastDuePeriodEndsAtNextCharge: false,
  changesAtPeriodEnd: false,
  changesWhileEnding: true,
  // https://developer.paddle.com/errors/subscriptions/subscription_update_when_past_due
  changesWhilePastDue: false,
  changesSeatsInTrial: true,
  buyersWriteMetadata: true,
  // A transaction is a draft until its customer has given an address, and only a ready one can be canceled.
  checkout: { canBeUpdated: true, takesTrialDays: false },
  // https://developer.paddle.com/api-reference/about/rate-limiting: 240 a minute per address, then blocked
  // for 60 s.
  requestLimit: () => ({ requests: 240, perSeconds: 60 }),
};
