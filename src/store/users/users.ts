import type { Role } from "../../domain/callers/caller.ts";
import { LOCALES, type Locale } from "../../domain/locale.ts";
import type { Preferences } from "../../domain/users/preferences.ts";
import type { Queryable } from "../database.ts";
import { type ListPosition, microsOf, timeOf } from "../list-position.ts";

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
 * Inserts users without a password and returns their ids. Skips taken ids and addresses, and ids of deleted
 * accounts: an id never refers to somebody else.
 */
export async function createUsers(database: Queryable, users: readonly NewUser[]): Promise<string[]> {
  const rows = await database.run<{ id: string }>(CREATE, [JSON.stringify(users)]);
  return rows.map((row) => row.id);
}

export type User = {
  id: string;
  name: string;
  email: string;
  emailVerified: boolean;
  role: Role;
  locale: Locale;
  preferences: Preferences;
  onboarded: boolean;
  createdAt: Date;
  updatedAt: Date;
};

/** Another release may have languages that this one lacks, and share its database: whoever has chosen one of them reads English. */
const SUPPORTED_LOCALE = `case when locale in (${LOCALES.map((locale) => `'${locale}'`)}) then locale else 'en' end`;

export const USER_COLUMNS = `id, name, email, email_verified as "emailVerified", role, ${SUPPORTED_LOCALE} as locale,
  preferences, onboarded, created_at as "createdAt", updated_at as "updatedAt"`;

const FIND = { name: "find_user", text: `select ${USER_COLUMNS} from "user" where id = $1` };

export async function findUser(database: Queryable, id: string): Promise<User | null> {
  const [user] = await database.run<User>(FIND, [id]);
  return user ?? null;
}

const FIND_BY_EMAIL = {
  name: "find_user_by_email",
  text: `select ${USER_COLUMNS} from "user" where email = $1`,
};

/** Addresses are stored in lower case. */
export async function findUserByEmail(database: Queryable, email: string): Promise<User | null> {
  const [user] = await database.run<User>(FIND_BY_EMAIL, [email.toLowerCase()]);
  return user ?? null;
}

const POSITIONED = `${USER_COLUMNS}, ${microsOf("created_at")} as "atMicros"`;

// Always starts after a position: a plan that also serves "from the start" would read all users before it.
const LIST = {
  name: "list_users",
  text: `
select ${POSITIONED} from "user"
where (created_at, id) > (${timeOf("$1::bigint")}, $2::text)
order by created_at, id limit $3::int`,
};

const LIST_ONE = {
  name: "list_one_user",
  text: `
select ${POSITIONED} from "user"
where id = $4 and (created_at, id) > (${timeOf("$1::bigint")}, $2::text)
limit $3::int`,
};

/** The year 1. */
const BEFORE_ALL = { atMicros: "-62135596800000000", id: "" };

/** Users, oldest first, starting after `after`. `id: null`: all of them, else that one alone. */
export async function listUsers(
  database: Queryable,
  page: { id: string | null; after: ListPosition | null; limit: number },
): Promise<(User & { atMicros: string })[]> {
  const { atMicros, id } = page.after ?? BEFORE_ALL;
  const position = [atMicros, id, page.limit];
  return page.id === null ? database.run(LIST, position) : database.run(LIST_ONE, [...position, page.id]);
}

/** Missing or undefined fields stay unchanged, in the preferences, too. */
export type ProfileChange = {
  name?: string | undefined;
  locale?: Locale | undefined;
  preferences?: { [Key in keyof Preferences]?: Preferences[Key] | undefined } | undefined;
};

const UPDATE_PROFILE = {
  name: "update_profile",
  text: `
update "user" set name = coalesce($2, name), locale = coalesce($3, locale),
  preferences = preferences || coalesce($4::jsonb, '{}'), updated_at = now()
where id = $1
returning ${USER_COLUMNS}`,
};

/** The changed user; `null` when there is none. */
export async function updateProfile(
  database: Queryable,
  id: string,
  { name, locale, preferences }: ProfileChange,
): Promise<User | null> {
  const [user] = await database.run<User>(UPDATE_PROFILE, [
    id,
    name ?? null,
    locale ?? null,
    preferences ? JSON.stringify(preferences) : null,
  ]);
  return user ?? null;
}

const MARK_ONBOARDED = {
  name: "mark_onboarded",
  text: `
update "user" set onboarded = true, updated_at = case when onboarded then updated_at else now() end
where id = $1
returning ${USER_COLUMNS}`,
};

/** The changed user; `null` when there is none. */
export async function markOnboarded(database: Queryable, id: string): Promise<User | null> {
  const [user] = await database.run<User>(MARK_ONBOARDED, [id]);
  return user ?? null;
}
