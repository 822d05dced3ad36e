import type { Subscription } from "./subscription.ts";
import type { SubscriptionStatus } from "./subscription-status.ts";

type Change<Value> = [before: Value | null, after: Value | null];

/**
 * The changed fields of a subscription, before and after; all `null` before for a new one. The user is left out: the
 * history is kept after an account is deleted.
 */
export type Changes = {
  planId?: Change<string>;
  seats?: Change<number>;
  status?: Change<SubscriptionStatus>;
  /** ISO 8601. */
  currentPeriodEnd?: Change<string>;
  cancelAtPeriodEnd?: Change<boolean>;
  providerSubscriptionId?: Change<string>;
  outOfOrder?: Change<boolean>;
};

const FIELDS = [
  "planId",
  "seats",
  "status",
  "currentPeriodEnd",
  "cancelAtPeriodEnd",
  "providerSubscriptionId",
  "outOfOrder",
] as const satisfies (keyof Changes)[];

type Changing = Pick<Subscription, (typeof FIELDS)[number]>;

/** `null`: no change. A flag that is false on a new subscription is no change either. */
export function changesOf(before: Changing | null, after: Changing): Changes | null {
  let changes: Record<string, Change<unknown>> | null = null;
  for (const field of FIELDS) {
    const was = before === null ? null : before[field];
    const is = after[field];
    if (isSame(was, is) || (before === null && is === false)) continue;
    changes ??= {};
    changes[field] = [toJson(was), toJson(is)];
  }
  return changes as Changes | null;
}

type Value = Changing[keyof Changing];

function isSame(one: Value, other: Value): boolean {
  return one instanceof Date && other instanceof Date ? one.getTime() === other.getTime() : one === other;
}

function toJson(value: Value): unknown {
  return value instanceof Date ? value.toISOString() : value;
}

export const CHANGE_KINDS = ["created", "changed", "ended"] as const;

/** The change in one word. A subscription first reported as ended counts as ended. */
export function kindOf({ planId, status }: Changes): (typeof CHANGE_KINDS)[number] {
  if (status?.[1] === "canceled") return "ended";
  return planId?.[0] === null ? "created" : "changed";
}
