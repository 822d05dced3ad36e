import type { Role } from "../../domain/callers/caller.ts";
import type { Locale } from "../../domain/locale.ts";
import type { Queryable } from "../database.ts";

export type KnownUser = {
  id: string;
  externalId: string | null;
  email: string;
  name: string;
  locale: Locale;
  role: Role;
  isEmailConfirmed: boolean;
  hasPassword: boolean;
};

// What somebody changes between this and the update would be undone by it.
const FIND = {
  name: "find_users_to_import",
  text: `
select u.id, u.external_id as "externalId", u.email, u.name, u.locale, u.role, u.email_verified as "isEmailConfirmed",
  exists (select from account a where a.user_id = u.id and a.password is not null) as "hasPassword"
from "user" u
where u.id = any (array(
  select id from "user" where id = any ($1::text[])
  union select id from "user" where external_id = any ($2::text[])
  union select id from "user" where email = any ($3::text[])
))
order by u.id for no key update of u`,
};

/** The users who have one of these ids, external ids or addresses, locked until the end of the transaction. */
export async function findUsersToImport(
  transaction: Queryable,
  { ids, externalIds, emails }: { ids: string[]; externalIds: string[]; emails: string[] },
): Promise<KnownUser[]> {
  return transaction.run<KnownUser>(FIND, [ids, externalIds, emails]);
}

const EXTERNAL = {
  name: "find_external_ids",
  text: 'select external_id as "externalId", id from "user" where external_id = any ($1::text[])',
};

/** The users with these external ids. */
export async function findByExternalIds(
  database: Queryable,
  externalIds: readonly string[],
): Promise<Map<string, string>> {
  if (externalIds.length === 0) return new Map();
  const rows = await database.run<{ externalId: string; id: string }>(EXTERNAL, [externalIds]);
  return new Map(rows.map(({ externalId, id }) => [externalId, id]));
}

export type ImportedUser = {
  id: string;
  externalId: string | null;
  email: string;
  name: string;
  locale: Locale;
};

const GIVEN = `json_to_recordset($1::json) as given (id text, "externalId" text, email text, name text, locale text)`;

const INSERT = {
  name: "insert_imported_users",
  text: `
insert into "user" (id, external_id, email, name, locale)
select id, "externalId", email, name, locale from ${GIVEN}`,
};

const UPDATE = {
  name: "update_imported_users",
  text: `
update "user" u set external_id = given."externalId", email = given.email, name = given.name,
  locale = given.locale, email_verified = u.email_verified and u.email = given.email, updated_at = now()
from ${GIVEN} where u.id = given.id`,
};

const REVOKE_LINKS = {
  name: "revoke_links_of_imported_users",
  text: "delete from verification where value = any ($1::text[])",
};

/**
 * Links that were mailed to an old address would hand their reader the account. Waits for whoever is setting a password by
 * one: call before deciding what to change.
 */
export async function revokeLinks(transaction: Queryable, userIds: readonly string[]): Promise<void> {
  await transaction.run(REVOKE_LINKS, [userIds]);
}

/** Users without a password. @throws a unique violation when one was added meanwhile */
export async function insertImportedUsers(
  transaction: Queryable,
  users: readonly ImportedUser[],
): Promise<void> {
  if (users.length > 0) await transaction.run(INSERT, [JSON.stringify(users)]);
}

export async function updateImportedUsers(
  transaction: Queryable,
  users: readonly ImportedUser[],
): Promise<void> {
  if (users.length > 0) await transaction.run(UPDATE, [JSON.stringify(users)]);
}

const MUTE = { name: "mute_user_events", text: "select set_config('tollgate.events', 'off', true)" };

/** Has the rest of the transaction emit no user events. */
export async function muteUserEvents(transaction: Queryable): Promise<void> {
  await transaction.run(MUTE);
}
