import { connectionLimit } from "../store/connection-limit.ts";
import type { Database } from "../store/database.ts";
import { type Finding, warning } from "./finding.ts";

/** What docs/how-to/deploy.md says; a test adds them up. */
export const SERVER_CONNECTIONS = 27;

/** `null`: there are enough for a server. */
export async function checkConnections(database: Database): Promise<Finding | null> {
  const limit = await connectionLimit(database);
  if (limit === null || limit.connections >= SERVER_CONNECTIONS) return null;
  return warning(
    "connections",
    `PostgreSQL allows ${limit.connections} connections, but a server opens up to ${SERVER_CONNECTIONS}: when none is free, webhooks are answered 503`,
    `As an administrator of PostgreSQL: ${limit.raise}; or connect through PgBouncer.`,
  );
}
