import type { Subscription } from "./subscription.ts";
import type { SubscriptionChange } from "./subscription-change.ts";

/** A user whose entitlements a change may have changed, with the state of the subscriptions that the transaction writes. */
export type UserChange = { userId: string; replaced: ReplacedSubscription[] };

type ReplacedSubscription = { id: string; before: WrittenFacts | null; after: WrittenFacts | null };

export type WrittenFacts = Pick<Subscription, "planId" | "status" | "currentPeriodEnd" | "cancelAtPeriodEnd">;

/** @param changes all those of one transaction, in order */
export function userChanges(changes: readonly SubscriptionChange[]): UserChange[] {
  const relevant = changes.filter(mayChangeEntitlements);
  return relevant.flatMap(({ before, after }, at) => {
    const userIds = new Set([before?.userId ?? null, after.userId]);
    return [...userIds].flatMap((userId) =>
      userId === null ? [] : [{ userId, replaced: replacedOf(relevant, at, userId) }],
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

/** The user's subscriptions among the changes, just before and after the one at this place. */
function replacedOf(
  changes: readonly SubscriptionChange[],
  at: number,
  userId: string,
): ReplacedSubscription[] {
  const states = new Map<string, { before: Subscription | null; after: Subscription | null }>();
  const concerned = new Set<string>();
  for (const [place, { before, after }] of changes.entries()) {
    if (before?.userId === userId || after.userId === userId) concerned.add(after.id);
    if (place < at) states.set(after.id, { before: after, after });
    else if (place === at) states.set(after.id, { before, after });
    else if (!states.has(after.id)) states.set(after.id, { before, after: before });
  }
  return [...concerned].map((id) => {
    const state = states.get(id);
    return { id, before: factsOf(state?.before, userId), after: factsOf(state?.after, userId) };
  });
}

function factsOf(one: Subscription | null | undefined, userId: string): WrittenFacts | null {
  if (!one || one.userId !== userId) return null;
  const { planId, status, currentPeriodEnd, cancelAtPeriodEnd } = one;
  return { planId, status, currentPeriodEnd, cancelAtPeriodEnd };
}
