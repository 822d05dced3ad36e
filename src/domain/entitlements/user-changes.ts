import type { Slot } from "../slot.ts";
import type { Subscription } from "../subscriptions/subscription.ts";

/** A change of a subscription that may have changed its user's entitlements. */
export type UserChange = { userId: string; replaced: ReplacedSubscription[] };

export type ReplacedSubscription = {
  id: string;
  provider: Slot;
  before: WrittenFacts | null;
  after: WrittenFacts | null;
};

export type WrittenFacts = Pick<Subscription, "planId" | "status" | "currentPeriodEnd" | "cancelAtPeriodEnd">;

export type OwnedFacts = WrittenFacts & Pick<Subscription, "userId">;

/** A subscription before and after a change; `before` is `null` for a new one. */
type ChangedSubscription = {
  before: OwnedFacts | null;
  after: OwnedFacts & Pick<Subscription, "id" | "provider">;
};

/** What a change means for the person before it and the one after it, who are usually the same. */
export function userChanges({ before, after }: ChangedSubscription): UserChange[] {
  if (!mayChangeEntitlements({ before, after })) return [];
  const userIds = new Set([before?.userId ?? null, after.userId]);
  return [...userIds].flatMap((userId) =>
    userId === null
      ? []
      : [
          {
            userId,
            replaced: [
              {
                id: after.id,
                provider: after.provider,
                before: factsOf(before, userId),
                after: factsOf(after, userId),
              },
            ],
          },
        ],
  );
}

/**
 * Whether entitlements may have changed. Ignores the plans' features, which the reader of the change knows.
 */
function mayChangeEntitlements({ before, after }: ChangedSubscription): boolean {
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
function factsOf(subscription: OwnedFacts | null, userId: string): WrittenFacts | null {
  if (subscription === null || subscription.userId !== userId) return null;
  const { planId, status, currentPeriodEnd, cancelAtPeriodEnd } = subscription;
  return { planId, status, currentPeriodEnd, cancelAtPeriodEnd };
}
