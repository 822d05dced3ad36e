import { ROLES } from "../../domain/caller.ts";
import { ATTEMPT_SOURCES, DELIVERY_STATUSES } from "../../domain/delivery.ts";
import { FEATURE_KINDS } from "../../domain/feature.ts";
import { LOCALES } from "../../domain/locale.ts";
import { NOTIFICATION_KINDS } from "../../domain/notification.ts";
import { PAYMENT_STATUSES } from "../../domain/payment.ts";
import { SLOTS } from "../../domain/slot.ts";
import { SUBSCRIPTION_STATUSES } from "../../domain/subscription-status.ts";
import { builder } from "./builder.ts";

export const RoleEnum = enumOf("Role", ROLES);
export const LocaleEnum = enumOf("Locale", LOCALES);
export const ThemeEnum = enumOf("Theme", ["system", "light", "dark"] as const);
export const SlotEnum = enumOf("Slot", SLOTS);
export const IntervalEnum = enumOf("Interval", ["month", "year"] as const);
export const FeatureKindEnum = enumOf("FeatureKind", FEATURE_KINDS);
export const CheckReasonEnum = enumOf("CheckReason", [
  "plan",
  "grace_until",
  "not_subscribed",
  "quota_exceeded",
] as const);
export const SubscriptionStatusEnum = enumOf("SubscriptionStatus", SUBSCRIPTION_STATUSES);
export const ChangeTimeEnum = enumOf("ChangeTime", ["now", "period_end"] as const);
export const PaymentStatusEnum = enumOf("PaymentStatus", PAYMENT_STATUSES);
export const NotificationKindEnum = enumOf("NotificationKind", NOTIFICATION_KINDS);
export const DeliveryStatusEnum = enumOf("DeliveryStatus", DELIVERY_STATUSES);
export const AttemptSourceEnum = enumOf("AttemptSource", ATTEMPT_SOURCES);
export const AttemptOutcomeEnum = enumOf("AttemptOutcome", ["successful", "failed"] as const);
export const ReplayOutcomeEnum = enumOf("ReplayOutcome", ["applied", "ignored", "failed"] as const);

/** GraphQL's spelling: `provider-a` on other surfaces is `PROVIDER_A` here. */
function enumOf<const Members extends readonly string[]>(name: string, members: Members) {
  const values = Object.fromEntries(
    members.map((member) => [member.replaceAll("-", "_").toUpperCase(), { value: member }]),
  );
  return builder.enumType(name, { values: values as Record<string, { value: Members[number] }> });
}
