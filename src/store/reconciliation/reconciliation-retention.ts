import type { Queryable } from "../database.ts";

// Ids follow the time of comparison. Of each subscription the last of those that were passed is kept, until a
// later one is passed: it may be its last change of all, which is shown.
const DROP = {
  name: "drop_reconciliations",
  text: `
with place as materialized (
  select dropped_until from reconciliation_retention for update skip locked
), scanned as materialized (
  select r.id, r.subscription_id, r.at, r.at < clock_timestamp() - $1::float8 * interval '1 day' as is_old
  from place cross join lateral (
    select id, subscription_id, at from reconciliation where id > place.dropped_until order by id limit $2::int
  ) r
), reach as materialized (
  select coalesce(min(id) filter (where not is_old) - 1, max(id)) as until from scanned
), passed as materialized (
  select id, subscription_id, at from scanned where id <= (select until from reach)
), latest as materialized (
  select distinct on (subscription_id) id, subscription_id, at from passed
  order by subscription_id, at desc, id desc
), dropped as (
  delete from reconciliation r using latest
  where r.subscription_id = latest.subscription_id and (r.at, r.id) < (latest.at, latest.id)
), moved as (
  update reconciliation_retention set dropped_until = (select max(id) from passed)
  where exists (select from passed)
)
select count(*)::int as passed from passed`,
};

/**
 * Drops what the next comparisons older than this have recorded, but for the last of each subscription.
 * Returns how many were gone through; none: nothing is left, or another process is dropping them.
 */
export async function dropReconciliations(
  database: Queryable,
  { olderThanDays, limit }: { olderThanDays: number; limit: number },
): Promise<number> {
  const [row] = await database.run<{ passed: number }>(DROP, [olderThanDays, limit]);
  return row?.passed ?? 0;
}
