import { ROLES } from "../../domain/callers/caller.ts";
import { ATTEMPT_SOURCES, DELIVERY_STATUSES } from "../../domain/deliveries/delivery.ts";
import { CHECK_REASONS } from "../../domain/entitlements/check-feature.ts";
import { LOCALES } from "../../domain/locale.ts";
import { NOTIFICATION_KINDS } from "../../domain/notifications/notification.ts";
import { PAYMENT_STATUSES } from "../../domain/payments/payment.ts";
import { FEATURE_KINDS } from "../../domain/plans/feature.ts";
import { INTERVALS } from "../../domain/plans/plan.ts";
import { SLOTS } from "../../domain/slot.ts";
import { SUBSCRIPTION_STATUSES } from "../../domain/subscriptions/subscription-status.ts";
import { builder } from "./builder.ts";

export const RoleEnum = enumOf("Role", ROLES, "What a user may do.", {
  user: "Reaches their own data.",
  admin: "Also reaches the operations for administrators.",
});

export const LocaleEnum = enumOf("Locale", LOCALES, "A language of pages and mail.", {
  en: "English.",
  de: "German.",
  es: "Spanish.",
  zh: "Chinese.",
});

export const ThemeEnum = enumOf("Theme", ["system", "light", "dark"], "The colors of the pages.", {
  system: "As the device is set.",
  light: "Dark text on a light background.",
  dark: "Light text on a dark background.",
});

export const SlotEnum = enumOf("Slot", SLOTS, "A payment provider, by its place in the configuration.", {
  "provider-a": "The provider that `PROVIDER_A_ADAPTER` names.",
  "provider-b": "The provider that `PROVIDER_B_ADAPTER` names.",
  "provider-c": "The provider that `PROVIDER_C_ADAPTER` names.",
});

export const IntervalEnum = enumOf("Interval", INTERVALS, "How often a price is paid.", {
  month: "Every month.",
  year: "Every year.",
});

export const FeatureKindEnum = enumOf("FeatureKind", FEATURE_KINDS, "What the value of a feature means.", {
  flag: "On or off.",
  limit: "A number that may not be exceeded at any time.",
  quota: "An amount that may be used up in a billing period.",
});

export const CheckReasonEnum = enumOf(
  "CheckReason",
  CHECK_REASONS,
  "Why a user may use a feature, or may not.",
  {
    plan: "The plan includes it, or does not.",
    grace_until: "A renewal has failed, and access stays for some days.",
    not_subscribed: "No subscription gives access.",
    quota_exceeded: "Too little is left of the quota.",
  },
);

export const SubscriptionStatusEnum = enumOf(
  "SubscriptionStatus",
  SUBSCRIPTION_STATUSES,
  "The status of a subscription.",
  {
    incomplete: "The first payment has not been made.",
    trialing: "In its free trial.",
    active: "Paid.",
    past_due: "A renewal has failed, and is retried.",
    paused: "Paused; nothing is charged.",
    unpaid: "Renewals have failed, and are not retried.",
    canceled: "It has ended.",
  },
);

export const ChangeTimeEnum = enumOf("ChangeTime", ["now", "period_end"], "When a change takes effect.", {
  now: "At once; the difference is charged or credited.",
  period_end: "With the next billing period.",
});

export const PaymentStatusEnum = enumOf("PaymentStatus", PAYMENT_STATUSES, "What became of a payment.", {
  paid: "It was made.",
  failed: "It failed.",
  refunded: "All of it was paid back.",
  partly_refunded: "A part of it was paid back.",
  disputed: "The cardholder disputes it at their bank.",
});

export const NotificationKindEnum = enumOf(
  "NotificationKind",
  NOTIFICATION_KINDS,
  "What a notification is about.",
  {
    subscription_activated: "A subscription has become active.",
    subscription_plan_changed: "A subscription has another plan.",
    subscription_past_due: "A renewal has failed.",
    subscription_unpaid: "A subscription is on hold: its payment failed and is no longer retried.",
    subscription_canceled: "A subscription has ended.",
    api_key_created: "An API key was created.",
    api_key_expiring: "An API key expires soon.",
    role_changed: "The user's role was changed.",
    password_changed: "The password was changed.",
    email_changed: "The email address was changed.",
    payment_undone:
      "For administrators: a subscription that was paid for twice, or paid for or resumed after its account was deleted, was canceled.",
    payment_not_undone:
      "For administrators: a subscription that was paid for twice, or paid for or resumed after its account was deleted, could not be canceled.",
    payment_refunded: "For administrators: a payment was refunded in full.",
    payment_disputed: "For administrators: a payment is disputed.",
    price_unknown: "For administrators: a subscription has a price that no plan has.",
    owner_unknown:
      "For administrators: the provider has a subscription to one of the plans that belongs to no user.",
    grace_period_reminder: "A renewal has failed; access stays for some days.",
    grace_period_ending: "Access after a failed renewal ends soon.",
    event_endpoint_disabled:
      "For administrators: an event endpoint was disabled: it failed for five days or responded with 410.",
    service_key_expiring: "For administrators: a service key expires soon.",
  },
);

export const DeliveryStatusEnum = enumOf(
  "DeliveryStatus",
  DELIVERY_STATUSES,
  "Where the processing of a delivery stands.",
  {
    pending: "It is being processed.",
    successful: "It was processed.",
    failed: "Processing failed.",
  },
);

export const AttemptSourceEnum = enumOf("AttemptSource", ATTEMPT_SOURCES, "What triggered an attempt.", {
  delivery: "The provider delivered the event.",
  retry: "An automatic retry.",
  replay: "An administrator replayed it.",
  reconcile: "The event was missing, and was fetched from the provider.",
});

export const AttemptOutcomeEnum = enumOf(
  "AttemptOutcome",
  ["successful", "failed"],
  "How an attempt ended.",
  { successful: "The event was processed.", failed: "Processing failed." },
);

export const ReplayOutcomeEnum = enumOf(
  "ReplayOutcome",
  ["applied", "ignored", "failed"],
  "How a replay ended.",
  {
    applied: "The event was applied.",
    ignored: "The event has no effect.",
    failed: "Processing failed.",
  },
);

/**
 * In GraphQL's spelling: `provider-a` on other surfaces is `PROVIDER_A` here. @param descriptions of each
 * member
 */
function enumOf<const Members extends readonly string[]>(
  name: string,
  members: Members,
  description: string,
  descriptions: Record<Members[number], string>,
) {
  const values = Object.fromEntries(
    members.map((member: Members[number]) => [
      member.replaceAll("-", "_").toUpperCase(),
      { value: member, description: descriptions[member] },
    ]),
  );
  return builder.enumType(name, {
    description,
    values: values as Record<string, { value: Members[number] }>,
  });
}
