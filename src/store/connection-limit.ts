import { type Database, rethrowClassified } from "./database.ts";

export type ConnectionLimit = {
  connections: number;
  /** What an administrator does to raise it. */
  raise: string;
};

// Superusers are not bound by the limits of their role and database. Before 16 there is no reserved_connections.
const SELECT_LIMIT = `
select connections, raise
from pg_roles r join pg_database d on r.rolname = current_user and d.datname = current_database()
  cross join lateral (values
    (case when not r.rolsuper then r.rolconnlimit end, format('alter role %I connection limit 50', r.rolname)),
    (case when not r.rolsuper then d.datconnlimit end, format('alter database %I connection limit 50', d.datname)),
    (
      current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
        - coalesce(current_setting('reserved_connections', true)::int, 0),
      'alter system set max_connections = 100, then restart PostgreSQL'
    )
  ) as allowed (connections, raise)
where connections >= 0 and pg_backend_pid() = $1
order by connections limit 1`;

/**
 * How many connections the role may open in all. `null`: behind a pooler, which makes clients wait.
 * @throws DatabaseUnavailable
 */
export async function connectionLimit({ pool }: Database): Promise<ConnectionLimit | null> {
  const client = await pool.connect().catch(rethrowClassified);
  try {
    const { processID } = client as unknown as { processID: number | null };
    const { rows } = await client.query<ConnectionLimit>(SELECT_LIMIT, [processID ?? 0]);
    return rows[0] ?? null;
  } catch (error) {
    return rethrowClassified(error);
  } finally {
    client.release();
  }
}
