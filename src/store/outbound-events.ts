import type { EventSubscription, SubscriptionEvent } from "../domain/outbound-event.ts";
import type { Queryable } from "./database.ts";
import { SEPARATOR } from "./separator.ts";

// Behind the write of the subscriptions, whose time the events take over.
const INSERT = {
  name: "insert_subscription_events",
  text: `
insert into outbound_event (type, subject, occurred_at, data)
select given.type, given.subject, s.updated_at, given.data::json
from unnest($1::text[], $2::text[], string_to_array($3::text, U&'\\001E')) with ordinality
  as given (type, subject, data, place)
join subscription s on s.id = given.subject::uuid and s.id = any ($2::uuid[])
order by given.place`,
};

/**
 * Writes events in the order of the list. The relay completes them after the commit, see `outbound/relay.ts`. The
 * subscriptions must have been written in the same transaction.
 */
export async function insertSubscriptionEvents(
  transaction: Queryable,
  events: readonly SubscriptionEvent[],
): Promise<void> {
  await transaction.run(INSERT, [
    events.map((event) => event.type),
    events.map((event) => event.subscription.id),
    events.map((event) => JSON.stringify({ subscription: shownOf(event.subscription) })).join(SEPARATOR),
  ]);
}

/** As REST shows it, without the times that the relay adds. */
function shownOf(subscription: EventSubscription): EventSubscription {
  return {
    id: subscription.id,
    userId: subscription.userId,
    provider: subscription.provider,
    providerSubscriptionId: subscription.providerSubscriptionId,
    planId: subscription.planId,
    seats: subscription.seats,
    status: subscription.status,
    currentPeriodEnd: subscription.currentPeriodEnd,
    cancelAtPeriodEnd: subscription.cancelAtPeriodEnd,
    outOfOrder: subscription.outOfOrder,
  };
}

const REDACT = {
  name: "redact_outbound_events",
  text: `
update outbound_event e
set user_id = null, data = (
  case when e.type like 'user.%' then e.data::jsonb || '{"externalId": null}'
  else e.data::jsonb || '{"userId": null, "externalId": null}'
    || case when e.data::jsonb ? 'subscription'
      then jsonb_build_object('subscription', (e.data::jsonb -> 'subscription') || '{"userId": null}') else '{}' end
    || case when e.data::jsonb ? 'payment'
      then jsonb_build_object('payment', (e.data::jsonb -> 'payment') || '{"receiptUrl": null}') else '{}' end
  end)::json
where e.user_id = $1::text or (e.position is null and $1::text in (
  e.data -> 'subscription' ->> 'userId', e.data ->> 'userId', e.data ->> 'id'))`,
};

/** Removes a deleted user from earlier events. The relay must be kept out meanwhile, see `waitForRelay`. */
export async function redactEventsOfUser(transaction: Queryable, userId: string): Promise<void> {
  await transaction.run(REDACT, [userId]);
}
