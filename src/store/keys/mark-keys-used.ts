import type { Queryable } from "../database.ts";

/** Records the use of these keys, unless one was recorded less than `everySeconds` ago. */
export async function markKeysUsed(
  database: Queryable,
  keys: { kind: KeyKind; ids: readonly string[]; everySeconds: number },
): Promise<void> {
  await database.run(MARK_USED[keys.kind], [keys.ids, keys.everySeconds]);
}

type KeyKind = "api_key" | "service_key";

const MARK_USED = { api_key: markUsed("api_key"), service_key: markUsed("service_key") };

// Skips rows that another process is updating: recording a use never waits for a lock.
function markUsed(table: KeyKind) {
  return {
    name: `mark_${table}s_used`,
    text: `
with used as (
  select id from ${table}
  where id = any ($1::uuid[]) and (last_used_at is null or last_used_at <= now() - $2::int * interval '1 second')
  for update skip locked
)
update ${table} set last_used_at = now() where id in (select id from used)`,
  };
}
