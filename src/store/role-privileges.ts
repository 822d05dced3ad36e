import type { Database } from "./database.ts";

export type RolePrivileges = {
  /** The role of this connection. */
  role: string;
  /** Where its tables are made; `null`: it may use no schema of its `search_path`. */
  schema: string | null;
  mayCreate: boolean;
  /** With which an administrator lets it, where it may not. */
  grant: string;
  /** Who owns the tables, where the role does not act for it; `null`: it does, or there are none. */
  foreignOwner: string | null;
  /** Whether it may see which migrations have been run. */
  mayRead: boolean;
};

const SELECT_PRIVILEGES = {
  name: "role_privileges",
  text: `
select current_user as role, current_schema() as schema,
  case when coalesce(current_schema(), named.schema) is null
    then format('alter role %I in database %I set search_path = public', current_user, current_database())
    when current_schema() is null and to_regnamespace(quote_ident(named.schema)) is null
    then format('create schema %I authorization %I', named.schema, current_user)
    when exists (
      select from pg_namespace
      where nspname = coalesce(current_schema(), named.schema) and nspowner = to_regrole('pg_database_owner')
    ) then format('alter database %I owner to %I', current_database(), current_user)
    else format('grant usage, create on schema %I to %I', coalesce(current_schema(), named.schema), current_user)
  end as grant,
  coalesce(has_schema_privilege(current_schema(), 'create'), false) as "mayCreate",
  (
    select pg_get_userbyid(c.relowner) from pg_class c
    where c.oid = to_regclass('schema_migration') and not pg_has_role(c.relowner, 'usage')
  ) as "foreignOwner",
  coalesce(has_table_privilege(to_regclass('schema_migration'), 'select'), true) as "mayRead"
from (
  select (
    select name from unnest(string_to_array(current_setting('search_path'), ',')) as part (entry),
      trim(entry) as written,
      -- As PostgreSQL reads it.
      coalesce(replace(substring(written from '^".*'), '"', ''), lower(written)) as name
    where name not in ('', '$user') limit 1
  ) as schema
) as named`,
};

/** Whether the role may do what a start of the server does. @throws DatabaseUnavailable */
export async function rolePrivileges(database: Database): Promise<RolePrivileges> {
  const [row] = (await database.run<RolePrivileges>(SELECT_PRIVILEGES)) as [RolePrivileges];
  return row;
}
