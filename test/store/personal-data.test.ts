import { afterAll, beforeAll, expect, it } from "vitest";
import { freshDatabase, type TestDatabase } from "../support/database.ts";

let test: TestDatabase;
beforeAll(async () => {
  test = await freshDatabase(0);
});
afterAll(() => test.drop());

/** What a foreign key to a user does once that user is deleted: `a` and `r` prevent it. */
const blocking = () =>
  test.rows<{ key: string }>(
    `select conname as key from pg_constraint
     where contype = 'f' and confrelid = '"user"'::regclass and confdeltype in ('a', 'r') order by 1`,
  );

/** Where a user's id would stay. */
const remaining = () =>
  test.rows<{ column: string }>(
    `select table_name || '.' || column_name as column from information_schema.columns c
     where table_schema = 'public' and column_name ~ '(^|_)user_id$' and not exists (
       select from pg_constraint
       where contype = 'f' and confrelid = '"user"'::regclass and conrelid = format('%I', c.table_name)::regclass
         and conkey[1] = c.ordinal_position
     ) order by 1`,
  );

it("no table keeps its user from being deleted", async () => {
  expect(await blocking()).toEqual([]);
  await test.rows(`create table blocking (user_id text references "user" (id))`);
  expect(await blocking()).toEqual([{ key: "blocking_user_id_fkey" }]);
});

it("no table keeps a deleted user's id", async () => {
  const columns = (await remaining()).map(({ column }) => column);
  // Deleting an account clears these itself: `redactOutbound`.
  expect(columns).toEqual([
    "outbound_change.before_user_id",
    "outbound_change.user_id",
    "outbound_event.user_id",
  ]);
  await test.rows("create table remaining (owner_user_id text)");
  expect(await remaining()).toContainEqual({ column: "remaining.owner_user_id" });
});
