import type { Slot } from "../../domain/slot.ts";
import { type Queryable, violatedConstraint } from "../database.ts";
import { heldLease, isHeld, type Lease } from "../leases.ts";
import { IS_ONE_TIME } from "./subscription-access.ts";

/** An order: two clicks for the same order get the same checkout. */
export type WantedCheckout = {
  userId: string;
  provider: Slot;
  planId: string;
  priceId: string;
  seats: number;
  /** Where the user continues afterwards; `null`: our billing page. */
  returnUrl: string | null;
};

/** `isUsed`: the provider has reported a subscription of the person since the checkout was opened. */
export type StoredCheckout = { provider: Slot; id: string; isUsed: boolean };

/** A checkout that is about to expire is not reused. */
const MARGIN_SECONDS = 30;
/** Providers forget idempotency keys after a day, and an order that old may have been paid. */
const SAME_KEY_FOR = "interval '1 hour'";

const IS_SAME = `c.provider = $2::text and c.plan_id = $3::text and c.price_id = $4::text and c.seats = $5::int
  and c.return_url is not distinct from $6::text`;

// A subscription that the checkout may have started: none of ours is for a single payment.
const MAY_BE_FROM_CHECKOUT = `s.user_id = c.user_id and s.provider = c.provider and s.status <> 'incomplete' and not ${IS_ONE_TIME}`;

// A subscription was reported since it was opened: this checkout was paid and must not be reused.
const IS_USED = `exists (
    select from subscription s where ${MAY_BE_FROM_CHECKOUT} and s.updated_at >= c.opened_at
  )`;

const IS_GOOD = `c.url is not null
  and clock_timestamp() < coalesce(
    c.expires_at - interval '${MARGIN_SECONDS} seconds', c.opened_at + $7::float8 * interval '1 second'
  )
  and not ${IS_USED}`;

// What a process of an earlier release holds, which has no row in `lease`.
const IS_HELD_BEFORE = `coalesce(c.lease_key is not null and ${isHeld("c.lease_until")}, false)`;

/** The name of the lease to open, replace or close a person's checkout. */
export function checkoutLease(userId: string): string {
  return `checkout:${userId}`;
}

const FIND_OPEN = {
  name: "find_open_checkout",
  text: `
select url from checkout c
where user_id = $1 and ${IS_SAME} and ${IS_GOOD} and not ${IS_HELD_BEFORE}
  and not exists (
    select from lease
    where name = $8 and ${isHeld("held_until")} and token is distinct from $9::uuid
  )`,
};

function valuesOf({ userId, provider, planId, priceId, seats, returnUrl }: WantedCheckout) {
  return [userId, provider, planId, priceId, seats, returnUrl];
}

/** Where the person can pay this order; `null`: none is open for it, or somebody else is replacing it. */
export async function findOpenCheckout(
  database: Queryable,
  order: WantedCheckout,
  { keepSeconds, lease }: { keepSeconds: number; lease: Lease | null },
): Promise<string | null> {
  const values = [...valuesOf(order), keepSeconds, checkoutLease(order.userId), lease?.token ?? null];
  const [open] = await database.run<{ url: string }>(FIND_OPEN, values);
  return open?.url ?? null;
}

const FIND = {
  name: "find_stored_checkout",
  text: `
select c.provider, c.session_id as "id", ${IS_USED} as "isUsed", ${IS_HELD_BEFORE} as "isHeld"
from checkout c where user_id = $1`,
};

/** For the holder of the lease. `busy`: a process of an earlier release is opening one. */
export async function findStoredCheckout(
  database: Queryable,
  userId: string,
): Promise<StoredCheckout | "busy" | null> {
  const [row] = await database.run<StoredRow>(FIND, [userId]);
  if (row?.isHeld) return "busy";
  return row === undefined || row.id === null
    ? null
    : { provider: row.provider, id: row.id, isUsed: row.isUsed };
}

const STATE = {
  name: "checkout_state",
  text: `
select c.opened_at is not null and exists (
    select from subscription s where ${MAY_BE_FROM_CHECKOUT} and s.created_at >= c.opened_at
  ) as "isPaid"
from checkout c where user_id = $1`,
};

/** `paid`: a subscription has become known since it was opened. */
export async function checkoutState(database: Queryable, userId: string): Promise<"none" | "open" | "paid"> {
  const [row] = await database.run<{ isPaid: boolean }>(STATE, [userId]);
  if (row === undefined) return "none";
  return row.isPaid ? "paid" : "open";
}

const RETIRE = {
  name: "retire_checkout",
  text: "update checkout set expires_at = clock_timestamp() where user_id = $1",
};

/**
 * For the holder of the lease, before the checkout is changed or closed at its provider: whether that succeeds may
 * never be known, so that its URL is returned for no order any more.
 */
export async function retireCheckout(database: Queryable, userId: string): Promise<void> {
  await database.run(RETIRE, [userId]);
}

type StoredRow = { provider: Slot; id: string | null; isUsed: boolean; isHeld: boolean };

const KEEPS_KEY = `${IS_SAME} and c.url is null and c.asked_at > clock_timestamp() - ${SAME_KEY_FOR}`;

// `lease_key` and `lease_until` keep processes of earlier releases away.
const PLACE = {
  name: "place_checkout_order",
  text: `
with ${heldLease("$7", "$8")}
insert into checkout as c (
  user_id, provider, plan_id, price_id, seats, return_url, idempotency_key, lease_key, lease_until
)
select $1, $2, $3, $4, $5::int, $6::text, $9::uuid, $8::uuid,
  clock_timestamp() + $10::float8 * interval '1 second'
from held
on conflict (user_id) do update set
  provider = excluded.provider, plan_id = excluded.plan_id, price_id = excluded.price_id, seats = excluded.seats,
  return_url = excluded.return_url,
  idempotency_key = case when ${KEEPS_KEY} then c.idempotency_key else excluded.idempotency_key end,
  asked_at = case when ${KEEPS_KEY} then c.asked_at else clock_timestamp() end,
  session_id = null, url = null, opened_at = null, expires_at = null,
  lease_key = excluded.lease_key, lease_until = excluded.lease_until
returning idempotency_key as "idempotencyKey"`,
};

export type PlacedOrder =
  | { outcome: "placed"; idempotencyKey: string }
  | { outcome: "lease lost" }
  /** The user does not exist (any more). */
  | { outcome: "no user" };

/**
 * Replaces the previous checkout, which must be closed, by a new order. An interrupted order keeps its
 * idempotency key, so that the provider opens it once.
 */
export async function placeCheckoutOrder(
  database: Queryable,
  order: WantedCheckout,
  {
    lease: { name, token },
    leaseSeconds,
    newIdempotencyKey,
  }: { lease: Lease; leaseSeconds: number; newIdempotencyKey: string },
): Promise<PlacedOrder> {
  const rows = await database
    .run<{ idempotencyKey: string }>(PLACE, [
      ...valuesOf(order),
      name,
      token,
      newIdempotencyKey,
      leaseSeconds,
    ])
    .catch(nullIfNoUser);
  if (rows === null) return { outcome: "no user" };
  const [placed] = rows;
  return placed ? { outcome: "placed", ...placed } : { outcome: "lease lost" };
}

function nullIfNoUser(error: unknown): null {
  if (violatedConstraint(error) === "checkout_user_id_fkey") return null;
  throw error;
}

const KEEP = {
  name: "keep_checkout",
  text: `
with ${heldLease("$7", "$8")}
update checkout set
  provider = $2::text, plan_id = $3::text, price_id = $4::text, seats = $5::int,
  return_url = $6::text, session_id = $9, url = $10, expires_at = $11::timestamptz, opened_at = clock_timestamp(), lease_key = null
where user_id = $1 and exists (select from held)
returning user_id`,
};

/**
 * Stores an opened checkout. `false`: the lease is lost or the user deleted, so that it must be closed again.
 */
export async function keepCheckout(
  database: Queryable,
  order: WantedCheckout,
  {
    lease: { name, token },
    opened: { id, url, expiresAt },
  }: { lease: Lease; opened: { id: string; url: string; expiresAt: Date | null } },
): Promise<boolean> {
  const renewed = await database.run(KEEP, [
    ...valuesOf(order),
    ...[name, token, id, url, expiresAt?.toISOString() ?? null],
  ]);
  return renewed.length > 0;
}

const FORGET = {
  name: "forget_checkout",
  text: `
with ${heldLease("$2", "$3")}
delete from checkout where user_id = $1 and exists (select from held)`,
};

/** For an order that the provider refused. */
export async function forgetCheckout(
  database: Queryable,
  userId: string,
  { name, token }: Lease,
): Promise<void> {
  await database.run(FORGET, [userId, name, token]);
}
