import type { TestDatabase } from "./database.ts";

/**
 * Lets the first two statements of this kind on a table fail as when PostgreSQL ends a transaction for
 * another one. Returns how many there have been.
 */
export async function deadlockAtFirst(
  test: TestDatabase,
  table: string,
  event: "insert" | "update" | "delete",
): Promise<() => Promise<number>> {
  const name = `deadlock_${event}_${table}`;
  // A sequence counts what is rolled back, too.
  await test.rows(`create sequence ${name}`);
  await test.rows(`create function ${name}() returns trigger language plpgsql as $$ begin
    if nextval('${name}') < 3 then raise exception using errcode = 'deadlock_detected'; end if;
    return null;
  end $$`);
  await test.rows(
    `create trigger ${name} before ${event} on ${table} for each statement execute function ${name}()`,
  );
  return async () => {
    const [row] = await test.rows<{ last: string }>(`select last_value as last from ${name}`);
    return Number(row?.last);
  };
}
