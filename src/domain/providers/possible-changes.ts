import type { ChangeObstacle } from "../refusals/change-obstacle.ts";
import type { Subscription } from "../subscriptions/subscription.ts";
import { isChangeable } from "../subscriptions/subscription-status.ts";
import type { ChangeOrder } from "./payment-api.ts";
import type { ProviderTraits } from "./provider-traits.ts";

type ChangeTraits = Pick<
  ProviderTraits,
  "changesAtPeriodEnd" | "changesWhileEnding" | "changesWhilePastDue" | "changesSeatsInTrial"
>;

/** What of a subscription its provider can change now, and whether a change can wait for the period's end. */
export type PossibleChanges = { atOnce: boolean; atPeriodEnd: boolean; seats: boolean };

export function possibleChanges(
  { status, cancelAtPeriodEnd }: Pick<Subscription, "status" | "cancelAtPeriodEnd">,
  traits: ChangeTraits,
): PossibleChanges {
  const isPayable = status !== "past_due" || traits.changesWhilePastDue;
  const atOnce = isChangeable(status) && isPayable && (!cancelAtPeriodEnd || traits.changesWhileEnding);
  return {
    atOnce,
    // A subscription that ends then has no next period to change.
    atPeriodEnd: atOnce && !cancelAtPeriodEnd && traits.changesAtPeriodEnd,
    seats: atOnce && (status !== "trialing" || traits.changesSeatsInTrial),
  };
}

/** What stands in the way of a change; `null`: nothing that is known here. */
export function changeObstacle(
  subscription: Pick<Subscription, "status" | "cancelAtPeriodEnd">,
  { when, seats }: Pick<ChangeOrder, "when" | "seats">,
  traits: ChangeTraits,
): ChangeObstacle | null {
  const possible = possibleChanges(subscription, traits);
  if (when === "period_end" && !traits.changesAtPeriodEnd) return "not_offered";
  if (subscription.status === "past_due" && !traits.changesWhilePastDue) return "payment_open";
  if (!(when === "period_end" ? possible.atPeriodEnd : possible.atOnce))
    return subscription.cancelAtPeriodEnd ? "ending" : "not_offered";
  return seats === null || possible.seats ? null : "trial";
}
