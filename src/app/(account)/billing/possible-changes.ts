import { type PossibleChanges, possibleChanges } from "../../../domain/providers/possible-changes.ts";
import { isChangeable } from "../../../domain/subscriptions/subscription-status.ts";
import { currentRequest } from "../../gate/request.ts";
import type { Subscription } from "./subscription-state.ts";

/** What the provider of a subscription can change now; `null`: nothing. */
export async function possibleChangesOf(subscription: Subscription): Promise<PossibleChanges | null> {
  const { deps } = await currentRequest();
  const api = deps.payments[subscription.provider];
  // The refusal of a change says that the slot has no key: whoever runs the server has to know.
  if (api === null)
    return isChangeable(subscription.status) ? { atOnce: true, atPeriodEnd: false, seats: true } : null;
  const possible = possibleChanges(subscription, api.traits);
  return possible.atOnce ? possible : null;
}
