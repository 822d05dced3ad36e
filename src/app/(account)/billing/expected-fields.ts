import type { z } from "zod";
import type { SubscriptionView } from "../../../operations/subscriptions/subscription-view.ts";

/** What a person has seen the cost of: when it changes in another tab, so does the cost. */
export function expectedFields({
  planId,
  seats,
  currentPeriodEnd,
}: z.input<typeof SubscriptionView>): Record<string, string> {
  return {
    expectedPlanId: planId,
    expectedSeats: String(seats),
    ...(currentPeriodEnd === null ? {} : { expectedPeriodEnd: currentPeriodEnd.toISOString() }),
  };
}

export function expectedIn(form: FormData) {
  return {
    planId: form.get("expectedPlanId"),
    seats: Number(form.get("expectedSeats")),
    currentPeriodEnd: form.get("expectedPeriodEnd"),
  };
}
