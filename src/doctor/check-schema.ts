import type { Database } from "../store/database.ts";
import { pendingMigrations } from "../store/migrate.ts";
import { lackOfKeys, missingKeys, RESTORE_AGAIN } from "../store/missing-keys.ts";
import { rolePrivileges } from "../store/role-privileges.ts";
import { broken, type Finding, good, warning } from "./finding.ts";

const CHECK = "schema";

/** Whether the database has this version's tables, or the role may make them. */
export async function checkSchema(database: Database): Promise<Finding> {
  const { role, schema, mayCreate, grant, foreignOwner, mayRead } = await rolePrivileges(database);
  const pending = mayRead ? await pendingMigrations(database) : null;
  if (foreignOwner !== null) {
    const detail = `the tables belong to ${foreignOwner}, and ${role} cannot bring them up to date`;
    const finding = pending?.length === 0 && mayCreate ? warning : broken;
    return finding(CHECK, detail, `Set DATABASE_URL to the role ${foreignOwner}.`);
  }
  // Since PostgreSQL 15 only the owner of a database may, unless others were granted it.
  if (!mayCreate) {
    const where = schema === null ? "any schema of its search_path" : `the schema ${schema}`;
    return broken(
      CHECK,
      `${role} may not create tables in ${where}`,
      `As an administrator of PostgreSQL: ${grant}`,
    );
  }
  if (pending === null) return good(CHECK, "up to date");
  if (pending.length === 0) {
    const missing = await missingKeys(database);
    if (missing.length > 0) return broken(CHECK, lackOfKeys(missing), `${RESTORE_AGAIN}.`);
    return good(CHECK, "up to date");
  }
  return warning(
    CHECK,
    `${pending.length} pending: ${pending.join(", ")}`,
    "Start the server: it runs them.",
  );
}
