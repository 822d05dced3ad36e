import type { Queryable } from "./database.ts";

export type UserState = "present" | "deleted";

const PRESENCE = {
  name: "find_presence",
  text: `
select id, 'present' as presence from "user" where id = any ($1::text[])
union all
select id, 'deleted' from deleted_user where id = any ($1::text[])`,
};

/** Which of these exist, and which have deleted the account; unknown ids are left out. */
export async function findUserStates(
  transaction: Queryable,
  ids: readonly string[],
): Promise<Map<string, UserState>> {
  const rows = await transaction.run<{ id: string; presence: UserState }>(PRESENCE, [ids]);
  return new Map(rows.map((row) => [row.id, row.presence]));
}

const CONFIRMED = {
  name: "find_confirmed_emails",
  text: `select id, email from "user" where id = any ($1::text[]) and email_verified`,
};

/** By user, the addresses that they have proved to own. */
export async function findConfirmedEmails(
  transaction: Queryable,
  ids: readonly string[],
): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await transaction.run<{ id: string; email: string }>(CONFIRMED, [ids]);
  return new Map(rows.map(({ id, email }) => [id, email]));
}
