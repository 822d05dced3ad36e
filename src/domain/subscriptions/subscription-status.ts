/** Our subscription statuses; every provider's own are mapped onto them. */
export const SUBSCRIPTION_STATUSES = [
  "incomplete",
  "trialing",
  "active",
  "past_due",
  "paused",
  "unpaid",
  "canceled",
] as const;

export type SubscriptionStatus = (typeof SUBSCRIPTION_STATUSES)[number];

/** Whether the provider charges the person in this status, or will again. */
export function isRunning(status: SubscriptionStatus): boolean {
  return status !== "incomplete" && status !== "canceled";
}

/** Whether the plan and the seats can be changed in this status. */
export function isChangeable(status: SubscriptionStatus): boolean {
  return status === "trialing" || status === "active" || status === "past_due";
}

export const CHANGEABLE_STATUSES = SUBSCRIPTION_STATUSES.filter(isChangeable);

export const RUNNING_STATUSES = SUBSCRIPTION_STATUSES.filter(isRunning);
