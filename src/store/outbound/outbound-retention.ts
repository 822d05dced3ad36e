import type { Queryable } from "../database.ts";

const DROP_EVENTS = {
  name: "drop_outbound_events",
  text: `
with oldest as materialized (
  select position, occurred_at from outbound_event where position is not null order by position limit $2::int
), dropped as (
  delete from outbound_event e using oldest
  where e.position = oldest.position and oldest.occurred_at < clock_timestamp() - $1::float8 * interval '1 day'
  returning e.position
), passed as (
  update outbound_relay set dropped_until = greatest(dropped_until, (select max(position) from dropped))
  where exists (select from dropped)
)
select count(*)::int as count from dropped`,
};

const DROP_PACKS = {
  name: "drop_outbound_event_packs",
  text: `
with oldest as materialized (
  select last_position, occurred_at from outbound_event_pack order by last_position limit $2::int
), dropped as (
  delete from outbound_event_pack p using oldest
  where p.last_position = oldest.last_position
    and oldest.occurred_at < clock_timestamp() - $1::float8 * interval '1 day'
  returning p.last_position
), passed as (
  update outbound_relay set dropped_until = greatest(dropped_until, (select max(last_position) from dropped))
  where exists (select from dropped)
)
select count(*)::int as count from dropped`,
};

const DROP_DELIVERIES = {
  name: "drop_outbound_deliveries",
  text: `
with old as (
  select id from outbound_delivery
  where status <> 'pending' and created_at < clock_timestamp() - $1::float8 * interval '1 day'
  order by created_at limit $2::int
), dropped as (
  delete from outbound_delivery d using old where d.id = old.id returning d.id
)
select count(*)::int as count from dropped`,
};

const DROP_UNREADABLE = {
  name: "drop_unreadable_changes",
  text: `
with old as (
  select seq from outbound_unreadable_set
  where set_aside_at < clock_timestamp() - $1::float8 * interval '1 day'
  order by seq limit $2::int
), dropped as (
  delete from outbound_unreadable_set s using old where s.seq = old.seq returning s.seq
)
select count(*)::int as count from dropped`,
};

const DROP_UNLINKED = {
  name: "drop_unlinked_payments",
  text: `
with old as (
  select payment_id from outbound_unlinked_payment
  where added_at < clock_timestamp() - $1::float8 * interval '1 day'
  order by added_at limit $2::int
), dropped as (
  delete from outbound_unlinked_payment u using old where u.payment_id = old.payment_id returning u.payment_id
)
select count(*)::int as count from dropped`,
};

type Batch = { olderThanDays: number; limit: number };

/**
 * Drops a batch of old events, of the log of their deliveries, of changes that could not be read, and of payments whose
 * subscription never came. Returns how many rows were dropped.
 */
export async function dropOutbound(database: Queryable, { olderThanDays, limit }: Batch): Promise<number> {
  let count = 0;
  for (const statement of [DROP_EVENTS, DROP_PACKS, DROP_DELIVERIES, DROP_UNREADABLE, DROP_UNLINKED]) {
    const [row] = await database.run<{ count: number }>(statement, [olderThanDays, limit]);
    count += row?.count ?? 0;
  }
  return count;
}
