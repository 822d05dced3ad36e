import type { Queryable } from "./database.ts";

export type Presence = "present" | "deleted";

const FIND = {
  name: "find_presence",
  text: `
select id, 'present' as presence from "user" where id = any ($1::text[])
union all
select id, 'deleted' from deleted_user where id = any ($1::text[])`,
};

/** Who of these is here, and who has deleted the account; the unknown are left out. */
export async function findPresence(
  transaction: Queryable,
  ids: readonly string[],
): Promise<Map<string, Presence>> {
  const rows = await transaction.run<{ id: string; presence: Presence }>(FIND, [ids]);
  return new Map(rows.map((row) => [row.id, row.presence]));
}

export type NewUser = { id: string; name: string; email: string };

const CREATE = {
  name: "create_users",
  text: `
insert into "user" (id, name, email)
select id, name, email from json_to_recordset($1::json) as given (id text, name text, email text)
where not exists (select from deleted_user gone where gone.id = given.id)
on conflict do nothing
returning id`,
};

/**
 * Records people without a password, and returns their ids. Left out are those whose id or address is taken, and ids
 * of people who have deleted the account: an id never comes to mean somebody else.
 */
export async function createUsers(database: Queryable, users: readonly NewUser[]): Promise<string[]> {
  const rows = await database.run<{ id: string }>(CREATE, [JSON.stringify(users)]);
  return rows.map((row) => row.id);
}
