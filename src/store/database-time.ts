import type { Queryable } from "./database.ts";

const TIME = { name: "database_time", text: "select clock_timestamp() as now" };

/** The clock that all servers share: that of one of them may be off. */
export async function databaseTime(database: Queryable): Promise<Date> {
  const [row] = await database.run<{ now: Date }>(TIME);
  return (row as { now: Date }).now;
}
