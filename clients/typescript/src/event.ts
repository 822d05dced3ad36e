import type { Entitlements, Payment, Subscription } from "./shapes.ts";

type EventOf<Type extends string, Data> = {
  /** The same for every attempt: store the ids that you have processed. */
  id: string;
  type: Type;
  /** ISO 8601. */
  occurredAt: string;
  /** The version of the REST API whose shapes `data` has. */
  version: string;
  data: Data;
};

type Owner = { userId: string | null; externalId: string | null };

/** What Tollgate reports to endpoints, and on the event stream. */
export type TollgateEvent =
  | EventOf<
      "subscription.started" | "subscription.changed" | "subscription.past_due" | "subscription.ended",
      Owner & { subscription: Subscription }
    >
  | EventOf<
      "payment.paid" | "payment.failed" | "payment.refunded" | "payment.disputed",
      Owner & { payment: Payment }
    >
  | EventOf<"entitlements.changed", Owner & { entitlements: Entitlements }>
  | EventOf<
      "user.created" | "user.updated" | "user.deleted",
      { id: string | null; externalId: string | null }
    >;
