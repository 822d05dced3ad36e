import pg from "pg";

/** One pool for sessions and subscriptions alike, of the size of Tollgate's. */
export const pool = new pg.Pool({
  connectionString: process.env.DATABASE_URL,
  max: Number(process.env.POOL_SIZE),
  idleTimeoutMillis: 0,
  keepAlive: true,
});
