import { type PossibleChanges, possibleChanges } from "../../../domain/possible-changes.ts";
import { currentRequest } from "../../gate/request.ts";
import type { Subscription } from "./subscription-state.ts";

/** What the provider of a subscription can change now; `null`: nothing. */
export async function changesOf(subscription: Subscription): Promise<PossibleChanges | null> {
  const { deps } = await currentRequest();
  const api = deps.payments[subscription.provider];
  if (api === null) return null;
  const possible = possibleChanges(subscription, api.traits);
  return possible.atOnce ? possible : null;
}
