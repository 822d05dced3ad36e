import type { Queryable } from "../database.ts";

const DROP = {
  name: "drop_notifications",
  text: `
with oldest as materialized (
  select id, created_at from notification order by id limit $2::int
)
delete from notification n using oldest
where n.id = oldest.id and oldest.created_at < clock_timestamp() - $1::float8 * interval '1 day'
returning n.id`,
};

/** Deletes the oldest notifications beyond so many days; returns how many. */
export async function dropNotifications(
  database: Queryable,
  options: { olderThanDays: number; limit: number },
): Promise<number> {
  const rows = await database.run(DROP, [options.olderThanDays, options.limit]);
  return rows.length;
}
