import type { Queryable } from "../database.ts";

const IS_OLD = "d.received_at < clock_timestamp() - $1::float8 * interval '1 day'";
const IS_AHEAD = "d.received_at > clock_timestamp() + interval '1 hour'";

// Ids follow the time of receipt. What came while the database's clock was ahead, as before a failover, is old once a
// later one is: its own time would keep its body, and hold up all that follow, until then. Deliveries that will be
// retried, and those that somebody is working on, keep their bodies and are visited again.
const DROP = {
  name: "drop_payloads",
  text: `
with place as materialized (
  select dropped_until, open_ids from delivery_retention for update skip locked
), scanned as materialized (
  select d.id, ${IS_OLD} as is_old, ${IS_AHEAD} as is_ahead
  from place cross join lateral (
    select id, received_at from webhook_delivery where id > place.dropped_until order by id limit $2::int
  ) d
), beyond as materialized (
  -- After a batch that ends with such deliveries, the next other one shows whether they are old.
  select ${IS_OLD} as is_old from webhook_delivery d
  where d.id > (select max(id) from scanned) and not (${IS_AHEAD})
    and (select is_ahead from scanned order by id desc limit 1)
  order by d.id limit 1
), reach as materialized (
  select max(id) as until from scanned
  where (is_old or (select is_old from beyond)) and id < coalesce(
    (select min(id) from scanned where not is_old and not is_ahead), 9223372036854775807
  )
), due as materialized (
  select d.id, ${IS_OLD} or ${IS_AHEAD} as is_old
  from webhook_delivery d
  where d.id = any (array(
    select id from scanned where id <= (select until from reach) union all select unnest(open_ids) from place
  ))
), settled as materialized (
  -- In its latest state, and kept in it: it may be claimed again at this moment.
  select id from webhook_delivery
  where id = any (array(select id from due where is_old))
    and (status = 'successful' or (status = 'failed' and next_attempt_at is null))
  for no key update skip locked
), dropped as (
  update webhook_delivery d set payload = null from settled
  where d.id = settled.id and d.payload is not null
  returning d.id
), attempts as (
  delete from webhook_attempt a using settled
  where a.delivery_id = settled.id and a.claim_no > 1 and a.subscription_id is null
), moved as (
  update delivery_retention r set dropped_until = greatest(r.dropped_until, coalesce((select until from reach), 0)),
    open_ids = array(select id from due where id <> all (array(select id from settled)) order by id)
  from place
)
select (select count(*)::int from dropped) as dropped,
  (select count(*)::int from scanned where id <= (select until from reach)) as passed`,
};

/**
 * Prunes the next settled deliveries older than the retention: bodies, and extra attempts that changed
 * nothing. Keys are kept for ever. `passed: 0`: nothing is left, or another process is pruning.
 */
export async function dropPayloads(
  database: Queryable,
  options: { olderThanDays: number; limit: number },
): Promise<{ dropped: number; passed: number }> {
  type Row = { dropped: number; passed: number };
  const [row] = await database.run<Row>(DROP, [options.olderThanDays, options.limit]);
  return row ?? { dropped: 0, passed: 0 };
}
