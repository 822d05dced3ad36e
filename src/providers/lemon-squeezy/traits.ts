import type { ProviderTraits } from "../../domain/providers/provider-traits.ts";

export const LEMON_SQUEEZY_TRAITS: ProviderTraits = {
  name: "Lemon Squeezy",
  productionUrl: "https://api.lemonsqueezy.com",
  apiKey: {
    hint: "an API key of Lemon Squeezy (Settings, API)",
    prefixes: ["eyJ"],
    testPrefixes: [],
    lifetimeDays: 365,
    expiresAt: expiryOfJwt,
  },
  unknownSubscriptionId: "1",
  inertEvent: ({ eventId, eventType }) => ({
    meta: { event_name: eventType, webhook_id: eventId },
    data: { type: "doctor", id: eventId, attributes: {} },
  }),
  testEventMark: { field: "test_mode", value: true },
  acknowledgesFailures: false,
  claimsFirst: true,
  listsCustomers: false,
  listsEvents: false,
  losesEventsWhileDisabled: false,
  // https://docs.lemonsqueezy.com/api/subscriptions/the-subscription-object: while past due, `renews_at` "will
  // reflect the next renewal charge attempt".
  pastDuePeriodEndsAtNextCharge: true,
  changesAtPeriodEnd: false,
  changesWhileEnding: true,
  changesWhilePastDue: true,
  // By the official SDK's types, `first_subscription_item` is null in a free trial.
  changesSeatsInTrial: false,
  buyersWriteMetadata: true,
  checkout: { canBeUpdated: false, takesTrialDays: false },
  // https://docs.lemonsqueezy.com/api/getting-started/requests: 300 a minute.
  requestLimit: () => ({ requests: 300, perSeconds: 60 }),
};

/** Keys are JSON Web Tokens, whose `exp` is in Unix seconds. */
function expiryOfJwt(key: string): Date | null {
  try {
    const claims: unknown = JSON.parse(Buffer.from(key.split(".")[1] ?? "", "base64url").toString());
    const seconds = (claims as { exp?: unknown } | null)?.exp;
    return typeof seconds === "number" && Number.isFinite(seconds) ? new Date(seconds * 1000) : null;
  } catch {
    return null;
  }
}
