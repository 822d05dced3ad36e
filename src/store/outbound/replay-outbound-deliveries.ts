import type { Queryable } from "../database.ts";
import { LOCK_ENDPOINT } from "./lock-event-endpoint.ts";
import { SENDING_TIME } from "./sending-time.ts";

// Pending deliveries of the same subjects wait for the replayed ones, except those being sent.
const REPLAY = {
  name: "replay_outbound_deliveries",
  text: `
update outbound_delivery d
set status = 'pending', next_attempt_at = null, completed_at = null, claim_no = d.claim_no + 1,
  give_up_at = clock_timestamp() + ${SENDING_TIME}
where d.endpoint_id = $1::uuid and d.status <> 'pending' and d.position is not null
  and d.id = any ($2::bigint[])
  and (exists (select from outbound_event e where e.position = d.position)
    or d.position >= (
      select p.first_position from outbound_event_pack p
      where p.last_position >= d.position order by p.last_position limit 1
    ))
returning d.subject`,
};

// Each subject is looked up by itself: the planner expects few pending deliveries, and would read all of the
// endpoint's for each.
const ORDER_HEADS = {
  name: "order_outbound_heads",
  text: `
update outbound_delivery d
set next_attempt_at = case when pending.is_head then clock_timestamp() end
from unnest($2::text[]) as replayed (subject) cross join lateral (
  select id, row_number() over (order by id) = 1 as is_head from outbound_delivery
  where endpoint_id = $1::uuid and subject = replayed.subject and status = 'pending'
) pending
where d.id = pending.id and (d.next_attempt_at is null) = pending.is_head`,
};

/**
 * Sends finished deliveries again, in their old order and before pending ones of the same subjects. Skips
 * tests, and deliveries that are pending or no longer kept. Returns how many are sent.
 */
export async function replayDeliveries(
  transaction: Queryable,
  endpointId: string,
  ids: readonly string[],
): Promise<number> {
  await transaction.run(LOCK_ENDPOINT, [endpointId]);
  const replayed = await transaction.run<{ subject: string }>(REPLAY, [endpointId, ids]);
  await transaction.run(ORDER_HEADS, [endpointId, [...new Set(replayed.map(({ subject }) => subject))]]);
  return replayed.length;
}

const FAILED = {
  name: "failed_outbound_deliveries",
  text: `
select id::text from outbound_delivery
where endpoint_id = $1::uuid and status = 'failed' and position is not null
  and ($2::timestamptz is null or created_at >= $2::timestamptz) and id > $3::bigint
order by outbound_delivery.id limit $4::int`,
};

/** While so many are replayed in a transaction, nothing else is recorded of the endpoint. */
const BATCH = 5_000;

/** The ids of all failed deliveries in batches, of which the first may be empty. */
export async function* failedDeliveries(
  database: Queryable,
  endpointId: string,
  { since }: { since: Date | null },
): AsyncGenerator<string[]> {
  let ids: string[] = [];
  do {
    const after = ids.at(-1) ?? "0";
    const values = [endpointId, since, after, BATCH];
    ids = (await database.run<{ id: string }>(FAILED, values)).map(({ id }) => id);
    yield ids;
  } while (ids.length === BATCH);
}
