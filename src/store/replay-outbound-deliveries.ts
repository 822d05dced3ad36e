import type { Queryable } from "./database.ts";
import { LOCK_ENDPOINT } from "./lock-event-endpoint.ts";

// Pending deliveries of the same subjects wait for the replayed ones, except those being sent.
const REPLAY = {
  name: "replay_outbound_deliveries",
  text: `
update outbound_delivery d
set status = 'pending', next_attempt_at = null, completed_at = null, claim_no = d.claim_no + 1,
  give_up_at = clock_timestamp() + interval '5 days'
where d.endpoint_id = $1::uuid and d.status <> 'pending' and d.position is not null
  and d.id = any ($2::bigint[])
  and (exists (select from outbound_event e where e.position = d.position)
    or d.position >= (
      select p.first_position from outbound_event_pack p
      where p.last_position >= d.position order by p.last_position limit 1
    ))
returning d.id::text`,
};

const FAILED = {
  name: "failed_outbound_deliveries",
  text: `
select id::text from outbound_delivery
where endpoint_id = $1::uuid and status = 'failed' and ($2::timestamptz is null or created_at >= $2::timestamptz)
order by outbound_delivery.id limit 10000`,
};

const ORDER_HEADS = {
  name: "order_outbound_heads",
  text: `
update outbound_delivery d
set next_attempt_at = case when d.id = head.id then clock_timestamp() end
from (
  select subject, min(id) as id from outbound_delivery
  where endpoint_id = $1::uuid and status = 'pending'
    and subject in (select subject from outbound_delivery where id = any ($2::bigint[]))
  group by subject
) head
where d.endpoint_id = $1::uuid and d.subject = head.subject and d.status = 'pending'
  and (d.next_attempt_at is null) = (d.id = head.id)`,
};

/**
 * Sends finished deliveries again, in their old order and before pending ones of the same subjects. Skips
 * tests, and deliveries that are pending or no longer kept. Returns the ids of those to be sent.
 * @param ids `null`: every failed one, created since then
 */
export async function replayDeliveries(
  transaction: Queryable,
  endpointId: string,
  { ids, since }: { ids: readonly string[] | null; since: Date | null },
): Promise<string[]> {
  await transaction.run(LOCK_ENDPOINT, [endpointId]);
  const chosen =
    ids ??
    (await transaction.run<{ id: string }>(FAILED, [endpointId, since?.toISOString() ?? null])).map(
      ({ id }) => id,
    );
  const replayed = await transaction.run<{ id: string }>(REPLAY, [endpointId, chosen]);
  await transaction.run(ORDER_HEADS, [endpointId, chosen]);
  return replayed.map(({ id }) => id);
}
