import type { AttemptSource, DeliveryStatus } from "../../domain/deliveries/delivery.ts";
import type { Slot } from "../../domain/slot.ts";
import type { Queryable } from "../database.ts";
import { joinPayloads } from "../driver/separator.ts";
import { logUnfinished } from "./attempts.ts";
import { ATTEMPT_NO, type Claim, claimAgain, IS_UNREPORTED, isLeaseOver } from "./claims.ts";
import { compareKeys, keyOf } from "./delivery-key.ts";

export type NewDelivery = {
  provider: Slot;
  eventId: string;
  eventType: string;
  format: string;
  occurredAtMicros: number | null;
  /** Whether it was delivered by webhook or fetched. */
  source: Extract<AttemptSource, "delivery" | "reconcile">;
  /** Well-formed JSON in UTF-8, as delivered. */
  payload: Buffer;
};

/** The result of a claim; `status` is the existing delivery's, if there was one. */
export type ClaimResult = {
  claim: Claim | null;
  status: DeliveryStatus | null;
  /** Whether a flush must also reach the standbys: a commit visible here may not have. */
  isReplicated: boolean;
};

const CLAIM = {
  name: "claim_deliveries",
  text: `
with input as materialized (
  select provider, event_id, event_type, format, to_timestamp(occurred / 1e6) as occurred_at, payload, source
  from unnest(
    $1::text[], $2::text[], $3::text[], $4::text[], $5::float8[], string_to_array($6::text, U&'\\001E'), $8::text[]
  ) as given (provider, event_id, event_type, format, occurred, payload, source)
), before as materialized (
  select d.id, d.provider, d.event_id, d.status, d.claim_no, d.claim_source, d.claimed_at, d.lease_until,
    ${IS_UNREPORTED} as is_unreported, d.received_at < clock_timestamp() - interval '6 days' as is_old
  from input i cross join lateral (
    select * from webhook_delivery d
    where d.provider = i.provider and d.event_id = i.event_id
      and d.provider = any ($1::text[]) and d.event_id = any ($2::text[])
  ) d
), claimed as (
  insert into webhook_delivery as d
    (provider, event_id, event_type, format, status, claim_source, lease_until, occurred_at, payload)
  select i.provider, i.event_id, i.event_type, i.format, 'pending', i.source,
    clock_timestamp() + $7::float8 * interval '1 second', i.occurred_at, i.payload::json
  from input i
  -- Not even tried: the conflict would wait for whoever is applying the event, and all claims behind it with it.
  where not exists (
    select from before b where b.provider = i.provider and b.event_id = i.event_id
      and (b.status = 'successful' or (b.status = 'pending' and not ${isLeaseOver("b")}))
  )
  on conflict (provider, event_id) do update set ${claimAgain("excluded.claim_source", "$7")},
    -- What is applied is what is stored: a provider may have changed the body meanwhile.
    event_type = excluded.event_type, format = excluded.format, occurred_at = excluded.occurred_at,
    payload = excluded.payload
  where d.status = 'failed' or (d.status = 'pending' and ${isLeaseOver("d")})
  returning d.id, d.provider, d.event_id, d.claim_no, ${ATTEMPT_NO} as attempt_no
), expired as (${logUnfinished(
    "lease_expired",
    "(select b.* from before b join claimed c on c.id = b.id and c.claim_no = b.claim_no + 1 where b.is_unreported) b",
  )}
), reopened as (
  -- Retention, which keeps bodies for a week or longer, may have passed it, or be passing it: without this the
  -- new body would be kept for ever.
  update delivery_retention r set open_ids = r.open_ids || array(
    select b.id from before b join claimed c on c.id = b.id where b.is_old
  )
  where exists (select from before b join claimed c on c.id = b.id where b.is_old)
)
select provider, event_id as "eventId", id, claim_no as "claimNo", attempt_no as "attemptNo", null as status,
  false as "isReplicated"
from claimed
union all
select provider, event_id, id, null, null, status, current_setting('synchronous_standby_names') <> '' from before`,
};

/**
 * Claims every delivery that is new, failed, or whose lease has expired, in one statement. No event may be
 * listed twice. Returns results in the order of the list.
 */
export async function claimDeliveries(
  transaction: Queryable,
  deliveries: readonly NewDelivery[],
  leaseSeconds: number,
): Promise<ClaimResult[]> {
  // Sorted, so that two processes claiming the same events lock them in the same order.
  const sorted = deliveries.toSorted((a, b) => compareKeys(keyOf(a), keyOf(b)));
  const rows = await transaction.run<ClaimRow>(CLAIM, [
    sorted.map((delivery) => delivery.provider),
    sorted.map((delivery) => delivery.eventId),
    sorted.map((delivery) => delivery.eventType),
    sorted.map((delivery) => delivery.format),
    sorted.map((delivery) => delivery.occurredAtMicros),
    joinPayloads(sorted.map((delivery) => delivery.payload)),
    leaseSeconds,
    sorted.map((delivery) => delivery.source),
  ]);
  const results = new Map<string, ClaimResult>();
  for (const { id, provider, eventId, claimNo, attemptNo, status, isReplicated } of rows) {
    const key = keyOf({ provider, eventId });
    const result = results.get(key) ?? NEITHER;
    results.set(
      key,
      claimNo === null || attemptNo === null
        ? { ...result, status, isReplicated }
        : { ...result, claim: { id, provider, eventId, claimNo, attemptNo, heldAs: "pending" } },
    );
  }
  return deliveries.map((delivery) => results.get(keyOf(delivery)) ?? NEITHER);
}

/** Of the claim, or of the delivery that there was before. */
type ClaimRow = Pick<Claim, "id" | "provider" | "eventId"> & {
  claimNo: number | null;
  attemptNo: number | null;
} & Omit<ClaimResult, "claim">;

const NEITHER: ClaimResult = { claim: null, status: null, isReplicated: false };

const LOCKED = {
  name: "find_locked_deliveries",
  text: `
with free as materialized (
  select id from webhook_delivery
  where provider = any ($1::text[]) and event_id = any ($2::text[])
  for no key update skip locked
)
select provider, event_id as "eventId" from webhook_delivery
where provider = any ($1::text[]) and event_id = any ($2::text[]) and id <> all (array(select id from free))`,
};

/**
 * Which deliveries another transaction has locked, by `keyOf`; those that it is inserting are not seen. With
 * keys of several slots it may find an id of one of them in another.
 */
export async function findLocked(
  transaction: Queryable,
  keys: readonly { provider: Slot; eventId: string }[],
): Promise<Set<string>> {
  const rows = await transaction.run<{ provider: Slot; eventId: string }>(LOCKED, [
    keys.map((key) => key.provider),
    keys.map((key) => key.eventId),
  ]);
  return new Set(rows.map(keyOf));
}

const CONFIRM = {
  name: "confirm_repeats",
  text: `
select d.provider, d.event_id as "eventId", d.status
from unnest($1::text[], $2::text[]) as i (provider, event_id)
join webhook_delivery d on d.provider = i.provider and d.event_id = i.event_id
where d.provider = any ($1::text[]) and d.event_id = any ($2::text[])
order by d.id
for key share of d`,
};

/**
 * Reads the status of deliveries that others have claimed, under a row lock: committing the lock durably
 * makes their claims durable, which were committed without waiting for the disk.
 */
export async function confirmRepeats(
  transaction: Queryable,
  keys: readonly { provider: Slot; eventId: string }[],
): Promise<(DeliveryStatus | null)[]> {
  const rows = await transaction.run<{ provider: Slot; eventId: string; status: DeliveryStatus }>(CONFIRM, [
    keys.map((key) => key.provider),
    keys.map((key) => key.eventId),
  ]);
  const statuses = new Map(rows.map((row) => [keyOf(row), row.status]));
  return keys.map((key) => statuses.get(keyOf(key)) ?? null);
}
