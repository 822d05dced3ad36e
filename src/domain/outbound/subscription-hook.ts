import type { EventSubscription, SubscriptionEventType } from "./outbound-event.ts";

export const HOOKS = ["afterSubscriptionChange", "withSubscriptionChange"] as const;

/** The functions that a plugin may export; `name` is the plugin's. */
export type SubscriptionHooks = {
  name: string;
  afterSubscriptionChange?: AfterSubscriptionChange;
  withSubscriptionChange?: WithSubscriptionChange;
};

/**
 * Called after the commit, at least once, in order per subscription. When it throws or takes longer than 15 s
 * it is called again, after the waits of outbound events, while later changes of that subscription wait.
 */
export type AfterSubscriptionChange = (change: CommittedChange) => unknown;

/**
 * Called in the transaction of the change; what it writes is committed with it. It may run again for the same
 * change, and must not do anything else that lasts. When it throws or takes longer than 200 ms the change is
 * not made: its event fails, and is retried.
 */
export type WithSubscriptionChange = (change: PendingChange, tx: HookTransaction) => unknown;

export type CommittedChange = {
  /** The outbound event's: the same each time. */
  id: string;
  type: SubscriptionEventType;
  occurredAt: Date;
  externalId: string | null;
  subscription: EventSubscription & { createdAt: Date; updatedAt: Date };
};

export type PendingChange = {
  type: SubscriptionEventType;
  /** `null`: it is new. */
  before: EventSubscription | null;
  subscription: EventSubscription;
};

export type HookTransaction = {
  /**
   * One statement with `$1`, `$2` and so on. It cannot begin or end a transaction, and a failure fails the
   * change.
   */
  query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
};
