import type { Slot } from "../domain/slot.ts";
import { type Queryable, violatedConstraint } from "./database.ts";

/** What somebody wants to buy: two clicks that want the same are sent to the same checkout. */
export type WantedCheckout = {
  userId: string;
  provider: Slot;
  planId: string;
  priceId: string;
  seats: number;
};

export type CheckoutLease =
  /** Ours to open, under this key; and the one that it takes the place of, if it was open. */
  | { outcome: "to open"; idempotencyKey: string; replaced: { provider: Slot; id: string } | null }
  | { outcome: "open"; url: string }
  /** Somebody is opening one for this person. */
  | { outcome: "being opened" }
  /** There is no such person, or not any more. */
  | { outcome: "nobody" };

export type TurnOptions = {
  /** Offered for a new checkout; one that was cut short keeps its own. */
  idempotencyKey: string;
  leaseSeconds: number;
  /** How long one is good for of which the provider does not say it. */
  keepSeconds: number;
};

/** Nobody is sent to a page that closes while it loads. */
const MARGIN_SECONDS = 30;
/** Providers forget keys after a day, and what was asked for so long ago may have been paid. */
const SAME_KEY_FOR = "interval '1 hour'";

const IS_SAME = `c.provider = $2::text and c.plan_id = $3::text and c.price_id = $4::text and c.seats = $5::int`;

// Something has come of it, whatever it is: a checkout that was paid is not to be gone to again.
const isGood = (keepSeconds: "$6" | "$8") => `c.url is not null
  and clock_timestamp() < coalesce(
    c.expires_at - interval '${MARGIN_SECONDS} seconds', c.opened_at + ${keepSeconds}::float8 * interval '1 second'
  )
  and not exists (
    select from subscription s
    where s.user_id = c.user_id and s.provider = c.provider and s.status <> 'incomplete' and s.updated_at >= c.opened_at
  )`;

const TAKE = {
  name: "take_checkout_turn",
  text: `
with before as (select provider, session_id from checkout where user_id = $1)
insert into checkout as c (user_id, provider, plan_id, price_id, seats, idempotency_key, lease_until)
values ($1, $2, $3, $4, $5, $6::uuid, clock_timestamp() + $7::float8 * interval '1 second')
on conflict (user_id) do update set
  provider = excluded.provider, plan_id = excluded.plan_id, price_id = excluded.price_id, seats = excluded.seats,
  idempotency_key = case
    when c.url is null and ${IS_SAME} and c.asked_at > clock_timestamp() - ${SAME_KEY_FOR} then c.idempotency_key
    else excluded.idempotency_key
  end,
  asked_at = case
    when c.url is null and ${IS_SAME} and c.asked_at > clock_timestamp() - ${SAME_KEY_FOR} then c.asked_at
    else clock_timestamp()
  end,
  lease_until = excluded.lease_until, session_id = null, url = null, opened_at = null, expires_at = null
where (c.url is not null or c.lease_until < clock_timestamp()) and not (${IS_SAME} and ${isGood("$8")})
returning idempotency_key as "idempotencyKey",
  (select json_build_object('provider', provider, 'id', session_id) from before where session_id is not null) as replaced`,
};

const LOOK = {
  name: "look_at_checkout",
  text: `
select url from checkout c
where user_id = $1 and ${IS_SAME} and ${isGood("$6")}`,
};

/**
 * Takes the turn to open a checkout for a person, unless one is open that wants the same, or being opened. Of any
 * number who ask at once, at any number of processes, one gets it.
 */
export async function acquireCheckoutLease(
  database: Queryable,
  { userId, provider, planId, priceId, seats }: WantedCheckout,
  { idempotencyKey, leaseSeconds, keepSeconds }: TurnOptions,
): Promise<CheckoutLease> {
  const wanted = [userId, provider, planId, priceId, seats];
  const offer = [...wanted, idempotencyKey, leaseSeconds, keepSeconds];
  const [taken] = await database.run<Taken>(TAKE, offer).catch(noneIfNobody);
  if (taken === null) return { outcome: "nobody" };
  if (taken) return { outcome: "to open", ...taken };
  const [open] = await database.run<{ url: string }>(LOOK, [...wanted, keepSeconds]);
  return open ? { outcome: "open", url: open.url } : { outcome: "being opened" };
}

type Taken = Omit<Extract<CheckoutLease, { outcome: "to open" }>, "outcome">;

function noneIfNobody(error: unknown): [null] {
  if (violatedConstraint(error) === "checkout_user_id_fkey") return [null];
  throw error;
}

const KEEP = {
  name: "keep_checkout",
  text: `
update checkout set session_id = $3, url = $4, expires_at = $5::timestamptz, opened_at = clock_timestamp()
where user_id = $1 and idempotency_key = $2::uuid and url is null
returning user_id`,
};

/** `false`: somebody has taken the turn over meanwhile. */
export async function keepCheckout(
  database: Queryable,
  userId: string,
  idempotencyKey: string,
  { id, url, expiresAt }: { id: string; url: string; expiresAt: Date | null },
): Promise<boolean> {
  const values = [userId, idempotencyKey, id, url, expiresAt?.toISOString() ?? null];
  return (await database.run(KEEP, values)).length > 0;
}

const FORGET = {
  name: "forget_checkout",
  text: "delete from checkout where user_id = $1 and idempotency_key = $2::uuid and url is null",
};

/** Nothing came of it: the next who asks begins afresh. */
export async function forgetCheckout(
  database: Queryable,
  userId: string,
  idempotencyKey: string,
): Promise<void> {
  await database.run(FORGET, [userId, idempotencyKey]);
}
