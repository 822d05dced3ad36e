import type { Queryable, Statement } from "../database.ts";

/** Drops the oldest by position, and records how far: no list can continue before that. */
function dropByPosition(name: string, table: string, position: string): Statement {
  return {
    name,
    text: `
with oldest as materialized (
  select ${position} as position, occurred_at from ${table}
  where ${position} is not null order by ${position} limit $2::int
), dropped as (
  delete from ${table} e using oldest
  where e.${position} = oldest.position and oldest.occurred_at < clock_timestamp() - $1::float8 * interval '1 day'
  returning e.${position} as position
), passed as (
  update outbound_relay set dropped_until = greatest(dropped_until, (select max(position) from dropped))
  where exists (select from dropped)
)
select count(*)::int as count from dropped`,
  };
}

/** @param time the column that says how old a row is */
function dropByAge(name: string, table: string, key: string, time: string, condition = "true"): Statement {
  return {
    name,
    text: `
with old as (
  select ${key} from ${table}
  where ${condition} and ${time} < clock_timestamp() - $1::float8 * interval '1 day'
  order by ${time} limit $2::int
), dropped as (
  delete from ${table} d using old where d.${key} = old.${key} returning d.${key}
)
select count(*)::int as count from dropped`,
  };
}

const STATEMENTS = [
  dropByPosition("drop_outbound_events", "outbound_event", "position"),
  dropByPosition("drop_outbound_event_packs", "outbound_event_pack", "last_position"),
  dropByAge("drop_outbound_deliveries", "outbound_delivery", "id", "created_at", "status <> 'pending'"),
  dropByAge("drop_unreadable_changes", "outbound_unreadable_set", "seq", "set_aside_at"),
  dropByAge("drop_unlinked_payments", "outbound_unlinked_payment", "payment_id", "added_at"),
];

type Batch = { olderThanDays: number; limit: number };

/**
 * Drops a batch of old events, of the log of their deliveries, of changes that could not be read, and of payments whose
 * subscription never came. Returns how many rows were dropped.
 */
export async function dropOutbound(database: Queryable, { olderThanDays, limit }: Batch): Promise<number> {
  let count = 0;
  for (const statement of STATEMENTS) {
    const [row] = await database.run<{ count: number }>(statement, [olderThanDays, limit]);
    count += row?.count ?? 0;
  }
  return count;
}
