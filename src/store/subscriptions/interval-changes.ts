import type { Queryable } from "../database.ts";

const RECORD = {
  name: "record_interval_change",
  text: "insert into interval_change (subscription_id) values ($1)",
};

/** For `recentIntervalChanges` of a `ChangeableSubscription`. */
export async function recordIntervalChange(database: Queryable, subscriptionId: string): Promise<void> {
  await database.run(RECORD, [subscriptionId]);
}
