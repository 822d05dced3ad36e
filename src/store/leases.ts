import { randomUUID } from "node:crypto";
import type { Queryable } from "./database.ts";

/**
 * Held by one process at a time. The token distinguishes its holder from one that takes over after it has
 * expired.
 */
export type Lease = { name: string; token: string };

/**
 * Whether a lease still holds. None lasts for longer than half a minute: what is held for minutes more was
 * acquired while the database's clock was ahead, as before a failover.
 */
export function isHeld(until: string): string {
  return `${until} > clock_timestamp() and ${until} < clock_timestamp() + interval '2 minutes'`;
}

const ACQUIRE = {
  name: "acquire_lease",
  text: `
insert into lease as l (name, token, held_until)
values ($1, $2::uuid, clock_timestamp() + $3::float8 * interval '1 second')
on conflict (name) do update set token = excluded.token, held_until = excluded.held_until
where not (${isHeld("l.held_until")})
returning name`,
};

/**
 * `null`: another process holds it. Time is the database's; single statements, so that a transaction pooler
 * will do.
 */
export async function acquireLease(
  database: Queryable,
  name: string,
  { seconds }: { seconds: number },
): Promise<Lease | null> {
  const token = randomUUID();
  const acquired = await database.run(ACQUIRE, [name, token, seconds]);
  return acquired.length > 0 ? { name, token } : null;
}

const RENEW = {
  name: "renew_lease",
  text: `
update lease set held_until = clock_timestamp() + $3::float8 * interval '1 second'
where name = $1 and token = $2::uuid
returning name`,
};

/** `false`: another process has taken it over. */
export async function renewLease(
  database: Queryable,
  { name, token }: Lease,
  { seconds }: { seconds: number },
): Promise<boolean> {
  return (await database.run(RENEW, [name, token, seconds])).length > 0;
}

const RELEASE = { name: "release_lease", text: "delete from lease where name = $1 and token = $2::uuid" };

export async function releaseLease(database: Queryable, { name, token }: Lease): Promise<void> {
  await database.run(RELEASE, [name, token]);
}

/**
 * A fence: a common table expression that has a row only for the holder, and keeps the lease from being taken
 * over until the statement has been committed.
 */
export function heldLease(name: `$${number}`, token: `$${number}`): string {
  return `held as materialized (select from lease where name = ${name}::text and token = ${token}::uuid for share)`;
}

const KEEP = {
  name: "keep_lease",
  text: "select from lease where name = $1 and token = $2::uuid for share",
};

/**
 * A fence for a whole transaction: keeps the lease from being taken over until its end. `false`: another process has
 * taken it over.
 */
export async function keepLease(transaction: Queryable, { name, token }: Lease): Promise<boolean> {
  return (await transaction.run(KEEP, [name, token])).length > 0;
}

const DELETE_EXPIRED = {
  name: "delete_expired_leases",
  text: "delete from lease where held_until < clock_timestamp() - interval '1 hour'",
};

/** Deletes what crashed processes have left. */
export async function deleteExpiredLeases(database: Queryable): Promise<void> {
  await database.run(DELETE_EXPIRED);
}
