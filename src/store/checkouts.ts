import type { Slot } from "../domain/slot.ts";
import { type Queryable, violatedConstraint } from "./database.ts";

/** An order: two clicks for the same order get the same checkout. */
export type WantedCheckout = {
  userId: string;
  provider: Slot;
  planId: string;
  priceId: string;
  seats: number;
};

/** `isUsed`: the provider has reported a subscription of the person since the checkout was opened. */
export type StoredCheckout = { provider: Slot; id: string; isUsed: boolean };

export type CheckoutLease =
  /** The lease is ours; `before` is the checkout to close first. */
  | { outcome: "acquired"; before: StoredCheckout | null }
  | { outcome: "open"; url: string }
  /** Another request is opening one for this person. */
  | { outcome: "busy" }
  /** The user does not exist (any more). */
  | { outcome: "no user" };

export type LeaseOptions = {
  /** Names the holder of the lease. */
  leaseKey: string;
  leaseSeconds: number;
  /** Lifetime of a checkout when the provider does not report one. */
  keepSeconds: number;
};

/** A checkout that is about to expire is not reused. */
const MARGIN_SECONDS = 30;
/** Providers forget idempotency keys after a day, and an order that old may have been paid. */
const SAME_KEY_FOR = "interval '1 hour'";

const IS_SAME = `c.provider = $2::text and c.plan_id = $3::text and c.price_id = $4::text and c.seats = $5::int`;
const IS_FREE = "(c.lease_key is null or c.lease_until < clock_timestamp())";

// A subscription was reported since it was opened: this checkout was paid and must not be reused.
const IS_USED = `exists (
    select from subscription s
    where s.user_id = c.user_id and s.provider = c.provider and s.status <> 'incomplete' and s.updated_at >= c.opened_at
  )`;

const isGood = (keepSeconds: "$6" | "$8") => `c.url is not null
  and clock_timestamp() < coalesce(
    c.expires_at - interval '${MARGIN_SECONDS} seconds', c.opened_at + ${keepSeconds}::float8 * interval '1 second'
  )
  and not ${IS_USED}`;

// Returns values of the updated row: the statement's snapshot may be older.
const ACQUIRE = {
  name: "acquire_checkout_lease",
  text: `
insert into checkout as c (user_id, provider, plan_id, price_id, seats, idempotency_key, lease_until, lease_key)
values ($1, $2, $3, $4, $5, $6::uuid, clock_timestamp() + $7::float8 * interval '1 second', $6::uuid)
on conflict (user_id) do update set lease_until = excluded.lease_until, lease_key = excluded.lease_key
where ${IS_FREE} and not (${IS_SAME} and ${isGood("$8")})
returning c.provider, c.session_id as "sessionId", ${IS_USED} as "isUsed"`,
};

const FIND_OPEN = {
  name: "find_open_checkout",
  text: `
select url from checkout c
where user_id = $1 and ${IS_FREE} and ${IS_SAME} and ${isGood("$6")}`,
};

/**
 * Acquires the lease to open a checkout for a person, unless one for the same order is open. Only one of any number
 * of concurrent requests, in any process, gets it.
 */
export async function acquireCheckoutLease(
  database: Queryable,
  { userId, provider, planId, priceId, seats }: WantedCheckout,
  { leaseKey, leaseSeconds, keepSeconds }: LeaseOptions,
): Promise<CheckoutLease> {
  const wanted = [userId, provider, planId, priceId, seats];
  const [row] = await database
    .run<AcquiredRow>(ACQUIRE, [...wanted, leaseKey, leaseSeconds, keepSeconds])
    .catch(nullIfNoUser);
  if (row === null) return { outcome: "no user" };
  if (row) {
    return { outcome: "acquired", before: storedCheckout(row) };
  }
  const [open] = await database.run<{ url: string }>(FIND_OPEN, [...wanted, keepSeconds]);
  return open ? { outcome: "open", url: open.url } : { outcome: "busy" };
}

type AcquiredRow = { provider: Slot; sessionId: string | null; isUsed: boolean };

function storedCheckout({ provider, sessionId, isUsed }: AcquiredRow): StoredCheckout | null {
  return sessionId === null ? null : { provider, id: sessionId, isUsed };
}

function nullIfNoUser(error: unknown): [null] {
  if (violatedConstraint(error) === "checkout_user_id_fkey") return [null];
  throw error;
}

const RENEW = {
  name: "renew_checkout_lease",
  text: `
update checkout set lease_until = clock_timestamp() + $3::float8 * interval '1 second'
where user_id = $1 and lease_key = $2::uuid
returning user_id`,
};

/** `false`: another request has taken the lease over, or the user is gone. */
export async function renewCheckoutLease(
  database: Queryable,
  userId: string,
  { leaseKey, leaseSeconds }: Pick<LeaseOptions, "leaseKey" | "leaseSeconds">,
): Promise<boolean> {
  return (await database.run(RENEW, [userId, leaseKey, leaseSeconds])).length > 0;
}

const PLACE = {
  name: "place_checkout_order",
  text: `
update checkout c set
  provider = $2::text, plan_id = $3::text, price_id = $4::text, seats = $5::int,
  idempotency_key = case when ${IS_SAME} and c.url is null and c.asked_at > clock_timestamp() - ${SAME_KEY_FOR}
    then c.idempotency_key else $7::uuid end,
  asked_at = case when ${IS_SAME} and c.url is null and c.asked_at > clock_timestamp() - ${SAME_KEY_FOR}
    then c.asked_at else clock_timestamp() end,
  session_id = null, url = null, opened_at = null, expires_at = null
where user_id = $1 and lease_key = $6::uuid
returning idempotency_key as "idempotencyKey"`,
};

/**
 * Replaces the previous checkout, which must be closed, by a new order. Returns its idempotency key: an interrupted
 * order keeps its own, so that the provider opens it once. `null`: the lease is lost.
 */
export async function placeCheckoutOrder(
  database: Queryable,
  { userId, provider, planId, priceId, seats }: WantedCheckout,
  { leaseKey, newIdempotencyKey }: { leaseKey: string; newIdempotencyKey: string },
): Promise<string | null> {
  const values = [userId, provider, planId, priceId, seats, leaseKey, newIdempotencyKey];
  const [row] = await database.run<{ idempotencyKey: string }>(PLACE, values);
  return row?.idempotencyKey ?? null;
}

const KEEP = {
  name: "keep_checkout",
  text: `
update checkout set
  provider = $2::text, plan_id = $3::text, price_id = $4::text, seats = $5::int,
  session_id = $7, url = $8, expires_at = $9::timestamptz, opened_at = clock_timestamp(), lease_key = null
where user_id = $1 and lease_key = $6::uuid
returning user_id`,
};

/** Stores an opened checkout and ends the lease. `false`: the lease is lost, so that it must be closed again. */
export async function keepCheckout(
  database: Queryable,
  { userId, provider, planId, priceId, seats }: WantedCheckout,
  { leaseKey, opened }: { leaseKey: string; opened: { id: string; url: string; expiresAt: Date | null } },
): Promise<boolean> {
  const { id, url, expiresAt } = opened;
  const values = [userId, provider, planId, priceId, seats, leaseKey, id, url];
  return (await database.run(KEEP, [...values, expiresAt?.toISOString() ?? null])).length > 0;
}

const RELEASE = {
  name: "release_checkout_lease",
  text: "update checkout set lease_key = null where user_id = $1 and lease_key = $2::uuid",
};

/** Ends the lease and keeps the row. */
export async function releaseCheckoutLease(
  database: Queryable,
  userId: string,
  leaseKey: string,
): Promise<void> {
  await database.run(RELEASE, [userId, leaseKey]);
}

const FORGET = {
  name: "forget_checkout",
  text: "delete from checkout where user_id = $1 and lease_key = $2::uuid",
};

/** For an order that the provider refused, or a checkout that was paid. */
export async function forgetCheckout(database: Queryable, userId: string, leaseKey: string): Promise<void> {
  await database.run(FORGET, [userId, leaseKey]);
}

const HOLD = {
  name: "hold_checkout_lease",
  text: `
update checkout c set lease_key = $2::uuid, lease_until = clock_timestamp() + $3::float8 * interval '1 second'
where user_id = $1 and ${IS_FREE}
returning c.provider, c.session_id as "sessionId", ${IS_USED} as "isUsed"`,
};

const HAS_CHECKOUT = { name: "has_checkout", text: "select 1 from checkout where user_id = $1" };

/**
 * Leases a person's checkout for closing, whatever its order, so that none is opened meanwhile.
 * `null`: there is none; `busy`: another request is opening one.
 */
export async function holdCheckout(
  database: Queryable,
  userId: string,
  { leaseKey, leaseSeconds }: Pick<LeaseOptions, "leaseKey" | "leaseSeconds">,
): Promise<{ before: StoredCheckout | null } | "busy" | null> {
  const [row] = await database.run<AcquiredRow>(HOLD, [userId, leaseKey, leaseSeconds]);
  if (row) {
    return { before: storedCheckout(row) };
  }
  return (await database.run(HAS_CHECKOUT, [userId])).length > 0 ? "busy" : null;
}
