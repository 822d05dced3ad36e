import type { Subscription } from "../subscriptions/subscription.ts";
import { isChangeable } from "../subscriptions/subscription-status.ts";
import type { ProviderTraits } from "./provider-traits.ts";

type ChangeTraits = Pick<ProviderTraits, "changesAtPeriodEnd" | "changesWhileEnding" | "changesSeatsInTrial">;

/** What of a subscription its provider can change now, and whether a change can wait for the period's end. */
export type PossibleChanges = { atOnce: boolean; atPeriodEnd: boolean; seats: boolean };

export function possibleChanges(
  { status, cancelAtPeriodEnd }: Pick<Subscription, "status" | "cancelAtPeriodEnd">,
  traits: ChangeTraits,
): PossibleChanges {
  const atOnce = isChangeable(status) && (!cancelAtPeriodEnd || traits.changesWhileEnding);
  return {
    atOnce,
    // A subscription that ends then has no next period to change.
    atPeriodEnd: atOnce && !cancelAtPeriodEnd && traits.changesAtPeriodEnd,
    seats: atOnce && (status !== "trialing" || traits.changesSeatsInTrial),
  };
}
