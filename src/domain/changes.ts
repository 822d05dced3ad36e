import type { Subscription } from "./subscription.ts";
import type { SubscriptionStatus } from "./subscription-status.ts";

type Change<Value> = [before: Value | null, after: Value | null];

/**
 * What has become different of a subscription, before and after. Of a new one everything was `null` before. Whose it
 * is stays out of it: what a subscription has been through is kept when its person leaves.
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

/** `null`: nothing. What is not so of a new one was not so before either. */
export function changesOf(before: Changing | null, after: Changing): Changes | null {
  let changes: Record<string, Change<unknown>> | null = null;
  for (const field of FIELDS) {
    const was = before === null ? null : before[field];
    const is = after[field];
    if (isSame(was, is) || (before === null && is === false)) continue;
    changes ??= {};
    changes[field] = [told(was), told(is)];
  }
  return changes as Changes | null;
}

type Value = Changing[keyof Changing];

function isSame(one: Value, other: Value): boolean {
  return one instanceof Date && other instanceof Date ? one.getTime() === other.getTime() : one === other;
}

function told(value: Value): unknown {
  return value instanceof Date ? value.toISOString() : value;
}

export const CHANGE_KINDS = ["created", "changed", "ended"] as const;

/** In one word. What was over when it was first heard of has ended. */
export function kindOf({ planId, status }: Changes): (typeof CHANGE_KINDS)[number] {
  if (status?.[1] === "canceled") return "ended";
  return planId?.[0] === null ? "created" : "changed";
}
