import { z } from "zod";
import { SLOTS } from "../../domain/slot.ts";
import type { Queryable } from "../../store/database.ts";
import { type ListedSubscription, subscriptionsOfSlot } from "../../store/subscription-list.ts";

const Ids = z.array(z.string().min(1).max(255)).max(1_000).default([]);

/** Those of a slot that belong to one of the users, or have one of the provider's ids. */
export const ListSubscriptions = z.strictObject({
  provider: z.enum(SLOTS),
  userIds: Ids,
  providerSubscriptionIds: Ids,
});

/** A subscription, wherever it is shown. Times are ISO 8601. */
export type SubscriptionView = Omit<ListedSubscription, "currentPeriodEnd" | "createdAt" | "updatedAt"> & {
  currentPeriodEnd: string | null;
  createdAt: string;
  updatedAt: string;
};

export async function listSubscriptions(
  deps: { database: Queryable },
  { provider, ...named }: z.output<typeof ListSubscriptions>,
): Promise<SubscriptionView[]> {
  const listed = await subscriptionsOfSlot(deps.database, provider, named);
  return listed.map((one) => ({
    ...one,
    currentPeriodEnd: one.currentPeriodEnd?.toISOString() ?? null,
    createdAt: one.createdAt.toISOString(),
    updatedAt: one.updatedAt.toISOString(),
  }));
}
