import { setTimeout as sleep } from "node:timers/promises";
import {
  APPLICATION_NAME,
  type Connection,
  DatabaseUnavailable,
  openDatabase,
  sqlState,
} from "../database.ts";
import { CANNOT_CONNECT_NOW } from "../driver/sql-states.ts";

/** Any number works, as long as every version uses the same. */
const USE_LOCK_KEY = 7_016_552_817;
const STOPPING = "tollgate stopping";
const STOP_TRIES = 20;
const PAUSE_MS = 100;

/** A session that tells other processes that this one uses the cluster. */
export type ClusterUse = {
  /** Opens a new session after PostgreSQL was restarted. */
  renew(): Promise<void>;
  /** Ends the use, and calls `stop` unless somebody else uses the cluster. */
  end(stop: () => Promise<void>): Promise<void>;
};

/**
 * Holds a lock that whoever stops the cluster needs alone: between the check whether others use it and the
 * stop nobody begins to. @throws DatabaseUnavailable also when it is being stopped
 */
export async function beginUse(url: string): Promise<ClusterUse> {
  let session: Session | null = await openSession(url);
  return {
    renew: async () => {
      if (await session?.isOpen()) return;
      session?.close();
      session = null;
      session = await openSession(url);
    },
    end: async (stop) => {
      const ending = session;
      session = null;
      if (ending !== null && (await ending.isOpen())) return endSession(ending, stop);
      ending?.close();
      await stopUnlessUsed(url, stop, "keep");
    },
  };
}

/**
 * Calls `stop` unless somebody uses the cluster.
 * @param whenUnknown what to do when it cannot be connected to, e.g. because all its connections are in use
 */
export async function stopUnlessUsed(
  url: string,
  stop: () => Promise<void>,
  whenUnknown: "stop" | "keep",
): Promise<void> {
  try {
    await endSession(await openSession(url), stop);
  } catch (error) {
    if (!(error instanceof DatabaseUnavailable)) throw error;
    // It is starting or being stopped: nobody works with it.
    if (whenUnknown === "stop" || sqlState(error.cause) === CANNOT_CONNECT_NOW) await stop();
  }
}

type Session = { connection: Connection; isOpen(): Promise<boolean>; close(): void };

async function openSession(url: string): Promise<Session> {
  const database = openDatabase({ url, prepared: false, maxConnections: 1, answerTimeoutMs: 5_000 });
  try {
    const connection = await database.connection();
    const close = () => {
      connection.release({ healthy: false });
      void database.close();
    };
    const isOpen = () =>
      connection.run({ name: "is_open", text: "select" }).then(
        () => true,
        () => false,
      );
    await connection
      .run({ name: "begin_use", text: `select pg_advisory_lock_shared(${USE_LOCK_KEY})` })
      .catch((error) => {
        connection.release({ healthy: false });
        throw error;
      });
    return { connection, isOpen, close };
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function endSession({ connection, close }: Session, stop: () => Promise<void>): Promise<void> {
  try {
    // Others that are stopping too need not wait for this session.
    await connection.run({ name: "stopping", text: `set application_name = '${STOPPING}'` });
    await connection.run({ name: "end_use", text: `select pg_advisory_unlock_shared(${USE_LOCK_KEY})` });
    const [lock] = await connection.run<{ taken: boolean }>({
      name: "take_alone",
      text: `select pg_try_advisory_lock(${USE_LOCK_KEY}) as taken`,
    });
    if (!lock?.taken) return;
    for (let tries = 0; tries < STOP_TRIES; tries += 1) {
      const [use] = await connection.run<{ begins: boolean; connected: boolean }>(SELECT_USE, [
        [APPLICATION_NAME, STOPPING],
      ]);
      if (use?.begins) return;
      if (!use?.connected) return await stop();
      // Connections that others have closed take a moment to go.
      await sleep(PAUSE_MS);
    }
  } catch (error) {
    // It crashed or was stopped in the meantime.
    if (!(error instanceof DatabaseUnavailable)) throw error;
  } finally {
    close();
  }
}

const SELECT_USE = {
  name: "cluster_use",
  text: `
select exists (
    select from pg_locks
    where locktype = 'advisory' and mode = 'ShareLock' and objsubid = 1
      and classid::bigint << 32 | objid::bigint = ${USE_LOCK_KEY}
  ) as begins,
  exists (
    select from pg_stat_activity
    where backend_type = 'client backend' and pid <> pg_backend_pid() and application_name <> all ($1)
  ) as connected`,
};
