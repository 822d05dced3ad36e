import type { SubscriptionState } from "../lifecycle/subscription.ts";
import type { Renderer, SubscriptionIds } from "../renderer.ts";
import type { Lifecycle, LifecycleStep } from "./scenario.ts";

/** A subscription's state at its provider. */
export type Expected = {
  userId: string;
  providerSubscriptionId: string;
  planId: string;
  seats: number;
  status: string;
  cancelAtPeriodEnd: boolean;
};

/** A subscription's state at the server. */
export type Found = { [Field in keyof Expected]: Expected[Field] | null } & { outOfOrder: boolean };

type Mismatch = { userId: string; providerSubscriptionId: string; differences: string[] };

export type Check = {
  subscriptions: number;
  matching: number;
  /** Different, and flagged by the server because events arrived out of order. */
  outOfOrder: number;
  mismatches: Mismatch[];
};

const COMPARED = ["userId", "planId", "seats", "status", "cancelAtPeriodEnd"] as const;

export function finalState({ steps }: Lifecycle, ids: SubscriptionIds, renderer: EndOfSchedule): Expected {
  const { state } = steps.at(-1) as LifecycleStep;
  return expectedState(state, ids, renderer);
}

type EndOfSchedule = Pick<Renderer, "endKeepsSchedule">;

/** What a receiver of all events must have stored. */
export function expectedState(
  state: SubscriptionState,
  ids: SubscriptionIds,
  { endKeepsSchedule }: EndOfSchedule,
): Expected {
  const { offer, seats, status, cancelAtPeriodEnd } = state;
  return {
    userId: ids.userId,
    providerSubscriptionId: ids.subscriptionId,
    planId: offer.planId,
    seats,
    status,
    cancelAtPeriodEnd: cancelAtPeriodEnd && (status !== "canceled" || endKeepsSchedule),
  };
}

/**
 * Compares the server's state with what was sent.
 * @param mayBeOutOfOrder whether events of this subscription, by its index in `expected`, may have arrived
 * out of order
 */
export function check(
  expected: readonly Expected[],
  actual: readonly Found[],
  mayBeOutOfOrder: (number: number) => boolean,
): Check {
  const byName = new Map(actual.map((subscription) => [subscription.providerSubscriptionId, subscription]));
  const countByUser = new Map<string | null, number>();
  for (const { userId } of actual) countByUser.set(userId, (countByUser.get(userId) ?? 0) + 1);

  const result: Check = { subscriptions: expected.length, matching: 0, outOfOrder: 0, mismatches: [] };
  for (const [number, expectedSubscription] of expected.entries()) {
    const match = byName.get(expectedSubscription.providerSubscriptionId);
    const extraCount = (countByUser.get(expectedSubscription.userId) ?? 0) - 1;
    const differences = [
      ...differencesBetween(expectedSubscription, match),
      ...(extraCount > 0 ? [`the user has ${extraCount} more of the slot`] : []),
    ];
    if (differences.length === 0) result.matching += 1;
    else if (match?.outOfOrder && mayBeOutOfOrder(number)) result.outOfOrder += 1;
    else {
      const { userId, providerSubscriptionId } = expectedSubscription;
      result.mismatches.push({ userId, providerSubscriptionId, differences });
    }
  }
  return result;
}

function differencesBetween(expected: Expected, actual: Found | undefined): string[] {
  if (!actual) return ["is not there"];
  return COMPARED.filter((field) => actual[field] !== expected[field]).map(
    (field) => `${field} is ${actual[field]}, expected ${expected[field]}`,
  );
}
