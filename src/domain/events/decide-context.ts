import type { PlanCatalog } from "../plans/plan.ts";
import type { Subscription } from "../subscriptions/subscription.ts";

/** The state that an event is decided against, read under lock. */
export type DecideContext = {
  /** All subscriptions that share an id, a customer or a user with the event. */
  subscriptions: readonly Subscription[];
  /** `unknown`: there has never been such a user. */
  userState(userId: string): "present" | "deleted" | "unknown";
  /** The address that the user has proved to own; `null`: none. */
  confirmedEmail(userId: string): string | null;
  plans: PlanCatalog;
  newId(): string;
  /** Microseconds since 1970. */
  nowMicros: number;
};

/** Shortens an id for a reason that people read. */
export function shorten(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60).toWellFormed()}...` : text;
}
