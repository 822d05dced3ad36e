import type { Subscription } from "./subscription.ts";
import type { SubscriptionChange } from "./subscription-change.ts";

/** A change of a subscription that may have changed its user's entitlements. */
export type UserChange = { userId: string; replaced: ReplacedSubscription[] };

type ReplacedSubscription = { id: string; before: WrittenFacts | null; after: WrittenFacts | null };

export type WrittenFacts = Pick<Subscription, "planId" | "status" | "currentPeriodEnd" | "cancelAtPeriodEnd">;

/** @param changes those of one transaction, in order */
export function userChanges(changes: readonly SubscriptionChange[]): UserChange[] {
  return changes.flatMap(({ before, after }) => {
    if (!mayChangeEntitlements({ before, after })) return [];
    const userIds = new Set([before?.userId ?? null, after.userId]);
    return [...userIds].flatMap((userId) =>
      userId === null
        ? []
        : [
            {
              userId,
              replaced: [{ id: after.id, before: factsOf(before, userId), after: factsOf(after, userId) }],
            },
          ],
    );
  });
}

/** Without the plan's features, which whoever reads the change knows. */
function mayChangeEntitlements({ before, after }: SubscriptionChange): boolean {
  if (before === null) return after.status !== "canceled";
  if (before.status === "canceled" && after.status === "canceled") return false;
  return (
    before.userId !== after.userId ||
    before.planId !== after.planId ||
    before.status !== after.status ||
    before.currentPeriodEnd?.getTime() !== after.currentPeriodEnd?.getTime() ||
    before.cancelAtPeriodEnd !== after.cancelAtPeriodEnd
  );
}

/** `null`: at that time there was none of this user. */
function factsOf(subscription: Subscription | null, userId: string): WrittenFacts | null {
  if (subscription === null || subscription.userId !== userId) return null;
  const { planId, status, currentPeriodEnd, cancelAtPeriodEnd } = subscription;
  return { planId, status, currentPeriodEnd, cancelAtPeriodEnd };
}
