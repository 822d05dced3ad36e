import { isoText } from "../iso-text.ts";
import type { Subscription } from "./subscription.ts";
import type { SubscriptionStatus } from "./subscription-status.ts";

type Change<Value> = [before: Value | null, after: Value | null];

/**
 * The changed fields of a subscription, before and after; all `null` before for a new one. The user is left
 * out: the history is kept after an account is deleted.
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
    const oldValue = before === null ? null : before[field];
    const newValue = after[field];
    if (isSame(oldValue, newValue) || (before === null && newValue === false)) continue;
    changes ??= {};
    changes[field] = [toJson(oldValue), toJson(newValue)];
  }
  return changes as Changes | null;
}

type Value = Changing[keyof Changing];

function isSame(a: Value, b: Value): boolean {
  return a instanceof Date && b instanceof Date ? a.getTime() === b.getTime() : a === b;
}

function toJson(value: Value): unknown {
  return value instanceof Date ? isoText(value) : value;
}

export const CHANGE_KINDS = ["created", "changed", "ended"] as const;

/** The change in one word. A subscription first reported as ended counts as ended. */
export function kindOf({ planId, status }: Changes): (typeof CHANGE_KINDS)[number] {
  if (status?.[1] === "canceled") return "ended";
  return planId?.[0] === null ? "created" : "changed";
}
