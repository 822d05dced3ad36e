import { expect, it } from "vitest";
import { OPERATOR } from "../../../src/domain/callers/caller.ts";
import { withAudit } from "../../../src/store/audit/with-audit.ts";
import type { Queryable } from "../../../src/store/database.ts";
import { revokeAfterNewPassword } from "../../../src/store/sign-in/revocations.ts";
import { testDatabase } from "../../support/test-database.ts";

const test = testDatabase(1);

const RENAME = { name: "rename", text: `update "user" set name = 'Renamed' where id = 'user_0'` };
const AUDITED = { action: "user.role_changed", target: { type: "user", id: "user_0" } } as const;

function failing(code: string, times: number) {
  let tries = 0;
  const change = async (transaction: Queryable) => {
    tries += 1;
    await transaction.run(RENAME);
    if (tries > times) return "changed";
    return transaction.run({
      name: `fail_${code}`,
      text: `do $$ begin raise exception using errcode = '${code}'; end $$`,
    });
  };
  return { change, tries: () => tries };
}

it.each(["40P01", "40001"])("makes a change again that PostgreSQL has ended with %s", async (code) => {
  const before = (await test.rows("select from audit_entry")).length;
  const { change, tries } = failing(code, 2);
  expect(await withAudit(test.database, OPERATOR, change, () => AUDITED)).toBe("changed");
  expect(tries()).toBe(3);
  expect(await test.rows("select from audit_entry")).toHaveLength(before + 1);
});

it("makes no change again that fails for another reason", async () => {
  const { change, tries } = failing("22012", 1);
  await expect(withAudit(test.database, OPERATOR, change, () => AUDITED)).rejects.toMatchObject({
    code: "22012",
  });
  expect(tries()).toBe(1);
});

it("revokes again what PostgreSQL has not let it revoke", async () => {
  // A sequence counts what is rolled back, too.
  await test.rows("create sequence tries");
  await test.rows(`create function deadlock_at_first() returns trigger language plpgsql as $$ begin
    if nextval('tries') < 3 then raise exception using errcode = 'deadlock_detected'; end if;
    return null;
  end $$`);
  await test.rows(
    "create trigger deadlock_at_first before delete on session for each statement execute function deadlock_at_first()",
  );
  await revokeAfterNewPassword(test.database, { userId: "user_0", keepToken: null, revokesKeys: false });
  expect(await test.rows("select last_value from tries")).toEqual([{ last_value: "3" }]);
});
