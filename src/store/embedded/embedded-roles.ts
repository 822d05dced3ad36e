import { DatabaseUnavailable, sqlState } from "../database.ts";
import { INVALID_PASSWORD } from "../driver/sql-states.ts";
import {
  adminUrl,
  type ClusterAccess,
  createTollgate,
  onDatabase,
  ROLES_LOCK_KEY,
  TEMPORARY_SUPERUSER,
} from "./embedded-access.ts";
import { type ConversionStep, removeSuperuser } from "./embedded-conversion.ts";

/**
 * Makes sure that the superuser is `postgres` and that `tollgate`, as which Tollgate connects, owns the
 * database but is no superuser, so that an injected statement reaches neither files nor programs. Repeatable
 * after a crash at any point.
 */
export async function ensureRoles(
  access: ClusterAccess,
  reached: (step: ConversionStep) => void = () => {},
): Promise<void> {
  // The files do not tell whether an earlier version created the cluster: a conversion may have been
  // interrupted.
  if (!(await canSignIn(adminUrl(access)))) await removeSuperuser(access, reached);
  await ensureTollgate(access);
}

/** PostgreSQL answers alike for a wrong password and for a role that does not exist. */
async function canSignIn(url: string): Promise<boolean> {
  try {
    await onDatabase(url, (database) => database.run({ name: "sign_in", text: "select" }));
    return true;
  } catch (error) {
    if (error instanceof DatabaseUnavailable && sqlState(error.cause) === INVALID_PASSWORD) return false;
    throw error;
  }
}

async function ensureTollgate(access: ClusterAccess): Promise<void> {
  await onDatabase(adminUrl(access), async (database) => {
    const roles = await database.run<{ rolname: string }>({
      name: "roles",
      text: `select rolname from pg_roles where rolname in ('tollgate', '${TEMPORARY_SUPERUSER}')`,
    });
    if (roles.length === 1 && roles[0]?.rolname === "tollgate") return;
    const connection = await database.connection();
    try {
      await connection.script(`
        begin;
        select pg_advisory_xact_lock(${ROLES_LOCK_KEY});
        drop role if exists ${TEMPORARY_SUPERUSER};
        do $$ begin
          if to_regrole('tollgate') is null then ${createTollgate(access.password)} end if;
        end $$;
        commit;
      `);
    } finally {
      connection.release({ healthy: false });
    }
  });
}
