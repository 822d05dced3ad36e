import { setTimeout as sleep } from "node:timers/promises";
import { type Connection, type Database, DatabaseUnavailable, sqlState } from "../database.ts";
import { DEADLOCK_DETECTED, LOCK_NOT_AVAILABLE } from "../driver/sql-states.ts";
import {
  type ClusterAccess,
  createTollgate,
  onDatabase,
  ROLES_LOCK_KEY,
  TEMPORARY_SUPERUSER,
  temporaryUrl,
  tollgateUrl,
} from "./embedded-access.ts";
import { EmbeddedPostgresFailed } from "./embedded-account.ts";

/** What a conversion has done so far. */
export type ConversionStep = "temporary superuser created" | "roles swapped" | "swap committed";

const SIGN_IN_REFUSED = /^28/;
const SWAP_TRIES = 60;
const PAUSE_MS = 1_000;

/**
 * Converts a cluster of an earlier version, whose superuser is `tollgate`: it is renamed to `postgres`, and a
 * new role `tollgate` without its rights owns the data. A session cannot rename its own role, so a temporary
 * superuser does it.
 */
export async function removeSuperuser(
  access: ClusterAccess,
  reached: (step: ConversionStep) => void,
): Promise<void> {
  await onDatabase(tollgateUrl(access), async (database) => {
    const connection = await database.connection().catch(explain);
    try {
      await connection.run({ name: "lock_roles", text: `select pg_advisory_lock(${ROLES_LOCK_KEY})` });
      // Another process may have converted the cluster in the meantime.
      if (!(await isSuperuser(connection))) return;
      await createTemporarySuperuser(connection, access.adminPassword);
      reached("temporary superuser created");
      await onDatabase(temporaryUrl(access), (temporary) => swapRoles(temporary, access, reached));
      reached("swap committed");
    } finally {
      connection.release({ healthy: false });
    }
  });
}

function explain(error: unknown): never {
  // Not when the database is being stopped at this moment.
  if (error instanceof DatabaseUnavailable && !SIGN_IN_REFUSED.test(sqlState(error.cause) ?? "")) throw error;
  const detail = error instanceof DatabaseUnavailable ? error.message : String(error);
  throw new EmbeddedPostgresFailed(
    `signing in to the embedded database failed (${detail}): restore the files password and admin-password beside its cluster, e.g. from a backup`,
  );
}

async function isSuperuser(connection: Connection): Promise<boolean> {
  const rows = await connection.run({
    name: "is_superuser",
    text: "select from pg_roles where rolname = 'tollgate' and rolsuper",
  });
  return rows.length > 0;
}

async function createTemporarySuperuser(connection: Connection, password: string): Promise<void> {
  await connection.script(`
    do $$ begin
      if to_regrole('${TEMPORARY_SUPERUSER}') is null then create role ${TEMPORARY_SUPERUSER}; end if;
    end $$;
    alter role ${TEMPORARY_SUPERUSER} superuser login password '${password}';
  `);
}

/**
 * In one transaction. Processes that use the tables at the same time are waited for, but never blocked for
 * long.
 */
async function swapRoles(
  database: Database,
  access: ClusterAccess,
  reached: (step: ConversionStep) => void,
): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const connection = await database.connection();
    try {
      await connection.script(swapScript(access));
      reached("roles swapped");
      return await connection.script("commit");
    } catch (error) {
      const isContended = [LOCK_NOT_AVAILABLE, DEADLOCK_DETECTED].includes(sqlState(error) ?? "");
      if (!isContended || tries >= SWAP_TRIES) throw error;
    } finally {
      connection.release({ healthy: false });
    }
    await sleep(PAUSE_MS);
  }
}

function swapScript({ password, adminPassword }: ClusterAccess): string {
  return `
    begin;
    set local lock_timeout = '1s';
    do $$ begin
      -- The name may have been taken by an operator, e.g. to restore a dump.
      if to_regrole('postgres') is not null then alter role postgres rename to postgres_renamed; end if;
    end $$;
    alter role tollgate rename to postgres;
    alter role postgres password '${adminPassword}';
    ${createTollgate(password)}
    ${REASSIGN}
  `;
}

/**
 * `reassign owned` refuses the role that created the cluster, which owns the system's objects as well. Linked
 * sequences follow their table; what belongs to an extension stays the superuser's.
 */
const REASSIGN = `
do $$ declare statement text; begin
  for statement in
    with added as (
      select oid from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema'
    ), dependent as (
      select classid, objid from pg_depend where deptype = 'e'
      union all
      select classid, objid from pg_depend join pg_class c on c.oid = objid and relkind = 'S'
        where classid = 'pg_class'::regclass and refclassid = 'pg_class'::regclass and deptype in ('a', 'i')
    )
    select format('alter schema %I owner to tollgate', nspname)
      from pg_namespace n
      where n.oid in (select oid from added) and nspowner = 'postgres'::regrole
        and not exists (select from dependent where classid = 'pg_namespace'::regclass and objid = n.oid)
    union all
    select format('alter table %s owner to tollgate', oid::regclass)
      from pg_class c
      where relnamespace in (select oid from added) and relowner = 'postgres'::regrole
        and relkind in ('r', 'p', 'v', 'm', 'f', 'S')
        and not exists (select from dependent where classid = 'pg_class'::regclass and objid = c.oid)
    union all
    select format('alter routine %s owner to tollgate', oid::regprocedure)
      from pg_proc p
      where pronamespace in (select oid from added) and proowner = 'postgres'::regrole
        and not exists (select from dependent where classid = 'pg_proc'::regclass and objid = p.oid)
    union all
    select format('alter type %s owner to tollgate', oid::regtype)
      from pg_type t
      where typnamespace in (select oid from added) and typowner = 'postgres'::regrole
        and (typtype in ('e', 'd', 'r')
          or exists (select from pg_class where oid = typrelid and relkind = 'c'))
        and not exists (select from dependent where classid = 'pg_type'::regclass and objid = t.oid)
  loop
    execute statement;
  end loop;
end $$;
`;
