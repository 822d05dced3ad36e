import { type Database, DatabaseUnavailable, sqlState } from "../store/database.ts";
import { inTransaction, type TransactionOptions } from "../store/transaction.ts";
import { broken, type Finding } from "./finding.ts";

const LIMITS: TransactionOptions = {
  synchronousCommit: "on",
  lockTimeoutMs: 3_000,
  statementTimeoutMs: 3_000,
  idleTimeoutMs: 3_000,
};

const SELECT_STANDBYS = {
  name: "doctor_standbys",
  text: "select current_setting('synchronous_standby_names') as names",
};

/** A commit waits only where it has written something: this writes to the write-ahead log only, to no table. */
const WRITE = {
  name: "doctor_write",
  text: "select pg_backend_pid() as pid, pg_logical_emit_message(true, 'tollgate', '')",
};

/** Else its process would wait, and keep its connection, until the standby is back. */
const CANCEL = { name: "doctor_cancel", text: "select pg_cancel_backend($1)" };

/**
 * `null`: a commit does not wait for a standby, or one has confirmed it.
 * @throws DatabaseUnavailable when something else keeps it from committing
 */
export async function checkStandby(database: Database): Promise<Finding | null> {
  const [standbys] = (await database.run<{ names: string }>(SELECT_STANDBYS)) as [{ names: string }];
  if (standbys.names === "") return null;
  let committing: number | null = null;
  try {
    await inTransaction(database, LIMITS, async (transaction) => {
      const [process] = (await transaction.run<{ pid: number }>(WRITE)) as [{ pid: number }];
      committing = process.pid;
      await transaction.commitAfter([]);
    });
    return null;
  } catch (error) {
    // A role that may not write it cannot tell.
    if (!(error instanceof DatabaseUnavailable)) return null;
    // PostgreSQL has refused the connection or the commit, as on a full disk.
    if (committing === null || sqlState(error.cause) !== null) throw error;
    await database.run(CANCEL, [committing]).catch(() => {});
    return broken(
      "standby",
      `no standby confirms commits (synchronous_standby_names is '${standbys.names}'): webhooks are answered 503`,
      "Restore the standby, or set synchronous_standby_names to '' in PostgreSQL: a failover then loses what the new primary had not received.",
    );
  }
}
