import type { Queryable } from "../database.ts";

/** For how long a change of the interval counts, and is kept. */
export const INTERVAL_CHANGE_COUNTS_FOR = "interval '30 days'";

const RECORD = {
  name: "record_interval_change",
  text: "insert into interval_change (subscription_id) values ($1)",
};

/** For `recentIntervalChanges` of a `ChangeableSubscription`. */
export async function recordIntervalChange(database: Queryable, subscriptionId: string): Promise<void> {
  await database.run(RECORD, [subscriptionId]);
}
