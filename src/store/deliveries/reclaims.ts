import { type DeliveryStatus, MAX_ATTEMPTS } from "../../domain/deliveries/delivery.ts";
import type { Queryable } from "../database.ts";
import { logUnfinished } from "./attempts.ts";
import { ATTEMPT_NO, type Claim, claimAgain, IS_UNREPORTED, isLeaseOver, LEASE_EXPIRED } from "./claims.ts";

/** A delivery taken from the log to be processed again. */
export type StoredDelivery = {
  claim: Claim;
  eventType: string;
  format: string;
  /** JSON text as delivered; `null` when it has been pruned or redacted. */
  payload: string | null;
};

type StoredRow = Omit<Claim, "heldAs"> & Omit<StoredDelivery, "claim">;

const STORED = `d.id, d.claim_no as "claimNo", ${ATTEMPT_NO} as "attemptNo", d.provider, d.event_id as "eventId",
  d.event_type as "eventType", d.format, d.payload::text as payload`;

// Selects rows to claim again. A pending claim that was not released has crashed, which counts as an attempt.
const PICKED = `d.id, d.claim_no, d.claim_source, d.claimed_at, ${IS_UNREPORTED} as is_unreported`;

// The selected rows are locked. An attempt that never finished is recorded as crashed.
const RECLAIM = `
reclaimed as (
  update webhook_delivery d set ${claimAgain("$1::text", "$2")}
  from picked p
  where d.id = p.id and d.id = any (array(select id from picked))
  returning ${STORED}
), expired as (${logUnfinished("lease_expired", "picked where is_unreported")}
)
select * from reclaimed order by id`;

// Estimated, as reading a large body only to measure it costs as much as retrying it: PostgreSQL compresses
// providers' bodies to a half, large ones to a tenth.
const BYTES = `coalesce(
    pg_column_size(payload) * case when pg_column_compression(payload) is null then 1 else 16 end, 0
  ) as bytes`;

const RECLAIM_DUE = {
  name: "reclaim_due",
  text: `
with moment as materialized (
  select clock_timestamp() as now
), failed as materialized (
  select ${PICKED}, next_attempt_at as due_at, ${BYTES} from webhook_delivery d
  where status = 'failed' and next_attempt_at <= (select now from moment)
  order by next_attempt_at limit $3::int for update skip locked
), last as materialized (
  -- No more than can be claimed: every pass reads them, though most failures only wait.
  select id, completed_at from webhook_delivery
  where status = 'failed' and next_attempt_at > (select now from moment)
  order by next_attempt_at desc limit $3::int
), ahead as materialized (
  -- Failed while the database's clock was ahead, as before a failover: so is the next attempt's time.
  select ${PICKED}, (select now from moment) as due_at, ${BYTES} from webhook_delivery d
  where id = any (array(
    select id from last where completed_at > (select now from moment) + interval '1 minute'
  )) and status = 'failed' and next_attempt_at is not null
  for update skip locked
), stuck as materialized (
  select ${PICKED}, lease_until as due_at, ${BYTES} from webhook_delivery d
  where status = 'pending' and ${isLeaseOver("d")}
    and (${ATTEMPT_NO} < ${MAX_ATTEMPTS} or not ${IS_UNREPORTED})
  order by lease_until limit $3::int for update skip locked
), summed as (
  select *, sum(bytes) over oldest_first as bytes_so_far, row_number() over oldest_first as place
  from (select * from failed union all select * from ahead union all select * from stuck) due
  window oldest_first as (order by due_at, id)
), picked as materialized (
  select * from summed where bytes_so_far <= $4::float8 or place = 1
), ${RECLAIM}`,
};

/**
 * Claims failed deliveries that are due, or that failed while the clock was ahead, and pending ones whose lease has
 * expired, at most `limit` of each. Of these only the oldest, whose bodies take about `maxBytes` together; a larger
 * one goes alone.
 */
export async function reclaimDue(
  database: Queryable,
  { leaseSeconds, limit, maxBytes }: { leaseSeconds: number; limit: number; maxBytes: number },
): Promise<StoredDelivery[]> {
  const rows = await database.run<StoredRow>(RECLAIM_DUE, ["retry", leaseSeconds, limit, maxBytes]);
  return rows.map((row) => toStored(row, "pending"));
}

const GIVE_UP = {
  name: "give_up_stuck",
  text: `
with picked as materialized (
  select id, claim_no, claim_source, claimed_at from webhook_delivery d
  where status = 'pending' and ${isLeaseOver("d")}
    and ${ATTEMPT_NO} >= ${MAX_ATTEMPTS} and ${IS_UNREPORTED}
  order by lease_until limit 1000 for update skip locked
), failed as (
  update webhook_delivery d set status = 'failed', last_error = '${LEASE_EXPIRED}', last_reason = 'lease_expired', lease_until = null,
    completed_at = clock_timestamp()
  from picked p where d.id = p.id
)
${logUnfinished("lease_expired", "picked")}
returning delivery_id as id`,
};

/** Fails pending deliveries whose last allowed attempt never finished; returns their ids. */
export async function giveUpStuck(database: Queryable): Promise<string[]> {
  const rows = await database.run<{ id: string }>(GIVE_UP);
  return rows.map((row) => row.id);
}

const RECLAIM_ONE = {
  name: "reclaim_one",
  text: `
with picked as materialized (
  select ${PICKED} from webhook_delivery d
  where id = $3::bigint and payload is not null and (status = 'failed' or (status = 'pending' and ${isLeaseOver("d")}))
  for update
), ${RECLAIM}`,
};

/**
 * Claims one delivery for a replay; `null` when it is successful, its lease still runs or its payload is gone.
 */
export async function reclaimOne(
  database: Queryable,
  id: string,
  { leaseSeconds }: { leaseSeconds: number },
): Promise<StoredDelivery | null> {
  const [row] = await database.run<StoredRow>(RECLAIM_ONE, ["replay", leaseSeconds, id]);
  return row ? toStored(row, "pending") : null;
}

const RECLAIM_SUCCESSFUL = {
  name: "reclaim_successful",
  text: `
with picked as materialized (
  select id, claim_no, claim_source, claimed_at, claim_no = 1 and first_outcome is not null as is_reported
  from webhook_delivery
  where id = $1::bigint and status = 'successful' and payload is not null
  for update
), unreported as (${logUnfinished("not_reported", "picked where not is_reported")}
)
update webhook_delivery d set claim_no = d.claim_no + 1, claim_source = 'replay', claimed_at = clock_timestamp()
from picked
where d.id = picked.id
returning ${STORED}`,
};

/**
 * Claims a successful delivery for a forced replay; it stays successful. `null` when it is not, or its payload is
 * gone.
 */
export async function reclaimSuccessful(database: Queryable, id: string): Promise<StoredDelivery | null> {
  const [row] = await database.run<StoredRow>(RECLAIM_SUCCESSFUL, [id]);
  return row ? toStored(row, "successful") : null;
}

const STATUS = {
  name: "delivery_status",
  text: `select status, payload is not null as "hasPayload" from webhook_delivery where id = $1::bigint`,
};

export async function findDeliveryStatus(
  database: Queryable,
  id: string,
): Promise<{ status: DeliveryStatus; hasPayload: boolean } | null> {
  const [row] = await database.run<{ status: DeliveryStatus; hasPayload: boolean }>(STATUS, [id]);
  return row ?? null;
}

function toStored(
  { eventType, format, payload, ...claim }: StoredRow,
  heldAs: Claim["heldAs"],
): StoredDelivery {
  return { claim: { ...claim, heldAs }, eventType, format, payload };
}
