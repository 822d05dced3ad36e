import { z } from "zod";
import { SLOTS } from "../../domain/slot.ts";
import type { Queryable } from "../../store/database.ts";
import { type ListedSubscription, subscriptionsOfSlot } from "../../store/subscription-list.ts";

const Ids = z.array(z.string().min(1).max(255)).max(1_000).default([]);

export const FindInSlot = z.strictObject({
  provider: z.enum(SLOTS),
  userIds: Ids,
  providerSubscriptionIds: Ids,
});

/** For the operator: those of a slot that belong to one of the users, or have one of the provider's ids. */
export function findInSlot(
  deps: { database: Queryable },
  { provider, ...named }: z.output<typeof FindInSlot>,
): Promise<ListedSubscription[]> {
  return subscriptionsOfSlot(deps.database, provider, named);
}
