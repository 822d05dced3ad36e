import type { EventSubscription, SubscriptionEvent } from "../domain/outbound-event.ts";
import type { Queryable } from "./database.ts";
import { SEPARATOR } from "./separator.ts";

function isoTime(time: string): string {
  return `to_char(${time} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}

// Behind the write of the subscriptions, whose time the events take over. Built as text: `json` keeps it as it is. The user is
// looked up by a range in its order, which forces the primary key: a plan made for few users would skip through their ages.
const INSERT = {
  name: "insert_complete_subscription_events",
  text: `
insert into outbound_event (type, subject, occurred_at, data, is_complete)
select input.type, input.subscription_id, s.updated_at, ('{"userId":' || coalesce(to_json(input.user_id)::text, 'null')
  || ',"externalId":' || coalesce(to_json(u.external_id)::text, 'null') || ',"subscription":{' || input.fields
  || ',"createdAt":"' || ${isoTime("s.created_at")} || '","updatedAt":"' || ${isoTime("s.updated_at")} || '"}}')::json, true
from unnest($1::text[], $2::text[], $3::text[], string_to_array($4::text, U&'\\001E')) with ordinality
  as input (type, subscription_id, user_id, fields, place)
cross join lateral (
  select created_at, updated_at from subscription where id = input.subscription_id::uuid offset 0
) s
left join lateral (
  select external_id from "user" where id >= input.user_id and id <= input.user_id order by id limit 1
) u on true
order by input.place`,
};

/** Writes events in the order of the list. The subscriptions must have been written in the same transaction. */
export async function insertSubscriptionEvents(
  transaction: Queryable,
  events: readonly SubscriptionEvent[],
): Promise<void> {
  await transaction.run(INSERT, [
    events.map((event) => event.type),
    events.map((event) => event.subscription.id),
    events.map((event) => event.subscription.userId),
    events.map((event) => shownFields(event.subscription)).join(SEPARATOR),
  ]);
}

/** As REST shows it, without the times that the statement adds, and without braces. */
function shownFields(subscription: EventSubscription): string {
  const fields: EventSubscription = {
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
  return JSON.stringify(fields).slice(1, -1);
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
