import type { Subscription } from "./subscription.ts";

/** A subscription before and after a change; `before` is `null` for a new one. */
export type SubscriptionChange = { before: Subscription | null; after: Subscription };
