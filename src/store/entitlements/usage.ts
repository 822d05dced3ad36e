import { createHash } from "node:crypto";
import type { Queryable } from "../database.ts";

export type UsageItem = {
  userId: string;
  feature: string;
  amount: number;
  /** What may be used in the period. */
  quota: number;
  periodEnd: Date;
  idempotencyKey: string;
};

export type RecordedUsage =
  | { outcome: "recorded"; answers: { used: number; remaining: number }[] }
  /** The item because of which nothing was recorded, by its index. */
  | { outcome: "quota_exceeded"; item: number; remaining: number }
  | { outcome: "key_reused"; item: number };

// The function takes row locks, as an update does: it must not delay other statements.
const RECORD = {
  name: "record_usage",
  text: "/* update */ select record_usage($1::jsonb) as result",
};

/**
 * Records all items or none, exactly across all processes. A repeated idempotency key returns the first
 * result.
 */
export async function recordUsage(database: Queryable, items: readonly UsageItem[]): Promise<RecordedUsage> {
  const rows = items.map(({ idempotencyKey, ...item }, index) => ({
    ...item,
    item: index,
    key: idempotencyKey,
    bodyHash: hashOf(item),
  }));
  const [row] = await database.run<{ result: RecordedUsage }>(RECORD, [JSON.stringify(rows)]);
  return (row as { result: RecordedUsage }).result;
}

function hashOf({ userId, feature, amount }: Pick<UsageItem, "userId" | "feature" | "amount">): string {
  return createHash("sha256")
    .update(JSON.stringify([userId, feature, amount]))
    .digest("hex");
}

const IN_PERIOD = {
  name: "usage_in_period",
  text: "select feature, used::float8 from usage_counter where user_id = $1 and period_end = $2 order by feature",
};

/** What a user has used of each quota that starts over at this time. */
export async function usedInPeriod(
  database: Queryable,
  userId: string,
  periodEnd: Date,
): Promise<{ feature: string; used: number }[]> {
  return database.run(IN_PERIOD, [userId, periodEnd]);
}

const DROP_KEYS = {
  name: "drop_usage_keys",
  text: `
delete from usage_key where key in (
  select key from usage_key where created_at < now() - $1::int * interval '1 day' order by created_at limit $2::int
) returning key`,
};

const DROP_COUNTERS = {
  name: "drop_usage_counters",
  text: `
delete from usage_counter where (user_id, feature, period_end) in (
  select user_id, feature, period_end from usage_counter
  where period_end < now() - $1::int * interval '1 day' order by period_end limit $2::int
) returning user_id`,
};

/** Drops old idempotency keys and the counters of old periods; returns how many, at most twice `limit`. */
export async function dropUsage(
  database: Queryable,
  { olderThanDays, limit }: { olderThanDays: number; limit: number },
): Promise<number> {
  const keys = await database.run(DROP_KEYS, [olderThanDays, limit]);
  const counters = await database.run(DROP_COUNTERS, [olderThanDays, limit]);
  return keys.length + counters.length;
}
