import type { Database } from "./database.ts";

const IS_READ_ONLY = {
  name: "is_read_only",
  text: `select current_setting('transaction_read_only') = 'on' as "isReadOnly"`,
};

/**
 * Whether a connection can write: it cannot on a standby, nor where a host has set a full database read-only.
 * @throws DatabaseUnavailable
 */
export async function acceptsWrites(database: Database): Promise<boolean> {
  const connection = await database.connection();
  let isWritable = false;
  try {
    const [row] = await connection.run<{ isReadOnly: boolean }>(IS_READ_ONLY);
    isWritable = row?.isReadOnly === false;
  } finally {
    // It would stay read-only when the database no longer is.
    connection.release({ healthy: isWritable });
  }
  return isWritable;
}
