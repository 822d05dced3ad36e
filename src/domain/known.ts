import type { PaymentEvent } from "./payment-event.ts";
import type { PlanCatalog } from "./plan.ts";
import type { Subscription } from "./subscription.ts";

/** What an event is decided against: everything it could concern, read under lock. */
export type Known = {
  /** All subscriptions that share an id, a customer or a user with the event. */
  subscriptions: readonly Subscription[];
  /** The event's user: `unknown` when no such person was ever here. */
  person(userId: string): "present" | "deleted" | "unknown";
  plans: PlanCatalog;
  newId(): string;
};

/** An event that has something to say about a subscription. */
export type ActiveEvent = PaymentEvent & { kind: Exclude<PaymentEvent["kind"], "ignored"> };

/** Whether the event lies before, by the provider's clock, what the subscription has seen already. */
export function isOlder(event: Pick<PaymentEvent, "occurredAtMicros">, than: Subscription): boolean {
  return (
    event.occurredAtMicros !== null &&
    than.lastEventAtMicros !== null &&
    event.occurredAtMicros < than.lastEventAtMicros
  );
}

/** For a reason, which a person reads: long ids say no more than their beginning. */
export function shorten(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}...` : text;
}
