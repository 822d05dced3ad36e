import type { EmittedEvent } from "./subscription.ts";

/** A change of a subscription with the events that report it, in order. */
export type Transition<Subscription> = { subscription: Subscription; events: readonly EmittedEvent[] };
