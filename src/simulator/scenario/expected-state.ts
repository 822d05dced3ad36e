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
 * @param mayBeOutOfOrder whether events of this subscription, by its index in `expected`, may have arrived out of
 * order
 */
export function check(
  expected: readonly Expected[],
  found: readonly Found[],
  mayBeOutOfOrder: (number: number) => boolean,
): Check {
  const byName = new Map(found.map((one) => [one.providerSubscriptionId, one]));
  const countByUser = new Map<string | null, number>();
  for (const { userId } of found) countByUser.set(userId, (countByUser.get(userId) ?? 0) + 1);

  const result: Check = { subscriptions: expected.length, matching: 0, outOfOrder: 0, mismatches: [] };
  for (const [number, one] of expected.entries()) {
    const known = byName.get(one.providerSubscriptionId);
    const others = (countByUser.get(one.userId) ?? 0) - 1;
    const differences = [
      ...differencesBetween(one, known),
      ...(others > 0 ? [`the user has ${others} more of the slot`] : []),
    ];
    if (differences.length === 0) result.matching += 1;
    else if (known?.outOfOrder && mayBeOutOfOrder(number)) result.outOfOrder += 1;
    else {
      const { userId, providerSubscriptionId } = one;
      result.mismatches.push({ userId, providerSubscriptionId, differences });
    }
  }
  return result;
}

function differencesBetween(expected: Expected, known: Found | undefined): string[] {
  if (!known) return ["is not there"];
  return COMPARED.filter((field) => known[field] !== expected[field]).map(
    (field) => `${field} is ${known[field]}, expected ${expected[field]}`,
  );
}
