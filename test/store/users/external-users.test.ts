import { randomUUID } from "node:crypto";
import pg from "pg";
import { expect, it } from "vitest";
import { inTransaction } from "../../../src/store/transaction.ts";
import { putExternalUser } from "../../../src/store/users/external-users.ts";
import { eventually } from "../../support/eventually.ts";
import { testDatabase } from "../../support/test-database.ts";

const LIMITS = {
  synchronousCommit: "on",
  lockTimeoutMs: 30_000,
  statementTimeoutMs: 30_000,
  idleTimeoutMs: 60_000,
} as const;
const NEVER_CHECK_FOR_DEADLOCKS = {
  name: "wait_for_deadlocks",
  text: "set local deadlock_timeout = '10min'",
};
const LOCK = { name: "lock_user", text: 'select from "user" where id = $1 for update' };
const MOVE = { name: "move_user", text: `update "user" set email = $2 where id = $1` };

const test = testDatabase(2);

const waiting = (count: number) =>
  eventually(
    () =>
      test.rows(
        "select count(*)::int as count from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
      ),
    [{ count }],
  );

it("updates a user again after a deadlock with another one who takes the address", async () => {
  await test.rows(`update "user" set external_id = 'shop-0' where id = 'user_0'`);
  const email = "shared@example.com";
  let putting: Promise<unknown> | undefined;
  let moving: Promise<unknown> | undefined;
  await inTransaction(test.database, LIMITS, async (pause) => {
    await pause.run(LOCK, ["user_0"]);
    const user = { newId: randomUUID(), externalId: "shop-0", email, name: "New" };
    putting = putExternalUser(test.database, user, { keyId: "key", address: "192.0.2.1" }).catch((e) => e);
    await waiting(1);
    moving = inTransaction(test.database, LIMITS, async (transaction) => {
      // So that the other one is ended.
      await transaction.run(NEVER_CHECK_FOR_DEADLOCKS);
      await transaction.run(MOVE, ["user_1", email]);
      await transaction.run(LOCK, ["user_0"]);
      await transaction.run(MOVE, ["user_1", "user_1@example.com"]);
      await transaction.commitAfter([]);
    });
    await waiting(2);
  });
  await moving;
  expect(await putting).toMatchObject({ externalId: "shop-0", email, name: "New" });
});

it("refuses an address that is taken while the index of addresses is rebuilt", async () => {
  await test.rows(
    `update "user" set external_id = 'shop-3', email = 'three@example.com' where id = 'user_0'`,
  );
  const reader = new pg.Client({ connectionString: test.url });
  const owner = new pg.Client({ connectionString: test.url });
  await Promise.all([reader.connect(), owner.connect()]);
  // As a dump does for hours: the former index is kept, renamed and unique, until it has ended.
  await reader.query(`begin; select from "user" limit 1`);
  const rebuilding = owner.query("reindex index concurrently user_email_key");
  await eventually(
    () => test.rows("select to_regclass('user_email_key_ccold') is not null as kept"),
    [{ kept: true }],
  );
  const user = { newId: randomUUID(), externalId: "shop-3", email: "user_1@example.com", name: "New" };
  const outcome = await putExternalUser(test.database, user, { keyId: "key", address: "192.0.2.1" }).catch(
    (error: Error) => error.message,
  );
  await reader.end();
  await rebuilding;
  await owner.end();
  expect(outcome).toBeNull();
});

it("is unavailable while a lock is not free in time", async () => {
  await test.rows(`update "user" set external_id = 'shop-1' where id = 'user_1'`);
  // PostgreSQL's own error, without the wait for it.
  await test.rows(`create function lock_not_available() returns trigger language plpgsql as
    $$ begin raise exception 'canceling statement due to lock timeout' using errcode = '55P03'; end $$`);
  await test.rows(
    `create trigger locked before update on "user" for each row execute function lock_not_available()`,
  );
  const user = { newId: randomUUID(), externalId: "shop-1", email: "user_1@example.com", name: "New" };
  await expect(putExternalUser(test.database, user, { keyId: "key", address: "" })).rejects.toMatchObject({
    name: "DatabaseUnavailable",
  });
});
