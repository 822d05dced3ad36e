import { type Database, openDatabase } from "../database.ts";

/** Where the cluster listens, and its passwords, of characters that need no quoting. */
export type ClusterAccess = { port: number; password: string; adminPassword: string };

/** Converts a cluster of an earlier version; dropped afterwards. */
export const TEMPORARY_SUPERUSER = "tollgate_conversion";

/** Held while roles are changed; any number works, as long as every version uses the same. */
export const ROLES_LOCK_KEY = 7_016_552_816;

export function tollgateUrl({ port, password }: ClusterAccess): string {
  return roleUrl("tollgate", password, port);
}

export function adminUrl({ port, adminPassword }: ClusterAccess): string {
  return roleUrl("postgres", adminPassword, port);
}

export function temporaryUrl({ port, adminPassword }: ClusterAccess): string {
  return roleUrl(TEMPORARY_SUPERUSER, adminPassword, port);
}

/** Without encryption, which the embedded server does not support, whatever PGSSLMODE says of the operator's other servers. */
function roleUrl(role: string, password: string, port: number): string {
  return `postgres://${role}:${password}@127.0.0.1:${port}/postgres?sslmode=disable`;
}

/** Opens the database for a piece of work. */
export async function onDatabase<T>(url: string, work: (database: Database) => Promise<T>): Promise<T> {
  const database = openDatabase({ url, prepared: false, maxConnections: 1, answerTimeoutMs: 60_000 });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/** The statements that create the role as the owner of the database. */
export function createTollgate(password: string): string {
  return `
    create role tollgate login password '${password}';
    grant pg_read_all_stats to tollgate;
    alter database postgres owner to tollgate;`;
}
