import type { Queryable } from "./database.ts";
import { acquireLease, type Lease, releaseLease, renewLease } from "./leases.ts";

export type HeldLease = Lease & {
  /** Whether another process may have taken it over. */
  isLost(): boolean;
  release(): Promise<void>;
};

/**
 * Acquires a lease and renews it until it is released. It ends `seconds` after the process crashes, stops, or
 * loses the database. `null`: another process holds it.
 */
export async function holdLease(
  database: Queryable,
  name: string,
  { seconds }: { seconds: number },
): Promise<HeldLease | null> {
  // Counted from before the request: the database's time ends later.
  let lostAt = performance.now() + seconds * 1000;
  const lease = await acquireLease(database, name, { seconds });
  if (lease === null) return null;

  const renew = async () => {
    const sentAt = performance.now();
    const isHeld = await renewLease(database, lease, { seconds });
    lostAt = isHeld ? sentAt + seconds * 1000 : Number.NEGATIVE_INFINITY;
  };
  let renewal = Promise.resolve();
  const timer = setInterval(
    () => {
      // Without the database, the lease is lost when its time is up.
      renewal = renewal.then(renew).catch(() => {});
    },
    (seconds * 1000) / 3,
  );
  timer.unref();
  return {
    ...lease,
    isLost: () => performance.now() >= lostAt,
    release: async () => {
      clearInterval(timer);
      await renewal;
      // What cannot be released ends by itself.
      await releaseLease(database, lease).catch(() => {});
    },
  };
}

/** Runs `work` while holding a lease. `null`: another process holds it. */
export async function withLease<Result>(
  database: Queryable,
  name: string,
  options: { seconds: number },
  work: (lease: HeldLease) => Promise<Result>,
): Promise<Result | null> {
  const lease = await holdLease(database, name, options);
  if (lease === null) return null;
  try {
    return await work(lease);
  } finally {
    await lease.release();
  }
}
