import { expect } from "vitest";
import type { TestDatabase } from "./database.ts";

/** Makes every insert of an audit entry fail while `work` runs, as if the process died there. */
export async function withoutAudit(test: TestDatabase, work: () => Promise<void>): Promise<void> {
  await test.rows(`
    create function refuse_entry() returns trigger language plpgsql as $$
    begin raise exception 'the process dies here'; end $$`);
  await test.rows(
    "create trigger refuse_entry before insert on audit_entry for each row execute function refuse_entry()",
  );
  try {
    await work();
  } finally {
    await test.rows("drop function refuse_entry cascade");
  }
}

/** The same for a change that passes the failure on. */
export async function expectFailureWithoutAudit(
  test: TestDatabase,
  change: () => Promise<unknown>,
): Promise<void> {
  await withoutAudit(test, () => expect(change()).rejects.toThrow("the process dies here"));
}
