import type { AttemptSource, DeliveryStatus } from "../domain/delivery.ts";
import type { Slot } from "../domain/slot.ts";
import type { Queryable } from "./database.ts";

/** The right to process one delivery, until its lease ends or another claim takes it over. */
export type Claim = {
  id: string;
  claimNo: number;
  /** `successful` for a forced replay, which leaves the delivery as it is whatever comes of it. */
  heldAs: "pending" | "successful";
};

export type NewDelivery = {
  provider: Slot;
  eventId: string;
  eventType: string;
  format: string;
  occurredAtMicros: number | null;
  /** Well-formed JSON text. */
  payload: string;
};

/** What came of trying to claim; `status` is that of the delivery which was there before, if one was. */
export type ClaimAnswer = { claim: Claim | null; status: DeliveryStatus | null };

// A control character cannot stand raw in JSON text, so that payloads need no quoting to travel together.
const SEPARATOR = "\u001e";

const CLAIM = {
  name: "claim_deliveries",
  text: `
with input as materialized (
  select provider, event_id, event_type, format, to_timestamp(occurred / 1e6) as occurred_at, payload
  from rows from (
    json_to_recordset($1::json) as (provider text, event_id text, event_type text, format text, occurred float8),
    unnest(string_to_array($2::text, U&'\\001E'))
  ) as given (provider, event_id, event_type, format, occurred, payload)
), before as materialized (
  select d.id, d.provider, d.event_id, d.status, d.claim_no, d.claim_source, d.claimed_at
  from input i cross join lateral (
    select * from webhook_delivery d where d.provider = i.provider and d.event_id = i.event_id
  ) d
), claimed as (
  insert into webhook_delivery as d
    (provider, event_id, event_type, format, status, claim_source, lease_until, occurred_at, payload)
  select i.provider, i.event_id, i.event_type, i.format, 'pending', 'delivery',
    clock_timestamp() + $3::float8 * interval '1 second', i.occurred_at, i.payload::json
  from input i
  where not exists (
    select from before b where b.provider = i.provider and b.event_id = i.event_id and b.status = 'successful'
  )
  on conflict (provider, event_id) do update set
    status = 'pending', claim_no = d.claim_no + 1, claim_source = 'delivery', claimed_at = clock_timestamp(),
    lease_until = clock_timestamp() + $3::float8 * interval '1 second', next_attempt_at = null, completed_at = null,
    last_error = case when d.status = 'pending' then 'lease expired' else d.last_error end
  where d.status = 'failed' or (d.status = 'pending' and d.lease_until < clock_timestamp())
  returning d.id, d.provider, d.event_id, d.claim_no
), expired as (
  insert into webhook_attempt (delivery_id, claim_no, source, outcome, reason, started_at, duration_ms)
  select b.id, b.claim_no, b.claim_source, 'failed', 'lease expired', b.claimed_at,
    extract(epoch from clock_timestamp() - b.claimed_at) * 1000
  from before b join claimed c on c.id = b.id and c.claim_no = b.claim_no + 1
  where b.status = 'pending'
  on conflict do nothing
)
select provider, event_id, id, claim_no, null as status from claimed
union all
select provider, event_id, id, null, status from before`,
};

/**
 * Claims every delivery that is new, has failed, or whose lease has run out, in one statement.
 * No event may be in the list twice. Answers in the order of the list.
 */
export async function claimDeliveries(
  transaction: Queryable,
  deliveries: readonly NewDelivery[],
  leaseSeconds: number,
): Promise<ClaimAnswer[]> {
  // Sorted, so that two processes which claim the same events wait for each other in one order.
  const sorted = deliveries.toSorted((a, b) => compare(keyOf(a), keyOf(b)));
  const rows = await transaction.run<{
    provider: string;
    event_id: string;
    id: string;
    claim_no: number | null;
    status: DeliveryStatus | null;
  }>(CLAIM, [
    JSON.stringify(
      sorted.map((one) => ({
        provider: one.provider,
        event_id: one.eventId,
        event_type: one.eventType,
        format: one.format,
        occurred: one.occurredAtMicros,
      })),
    ),
    sorted.map((one) => one.payload).join(SEPARATOR),
    leaseSeconds,
  ]);
  const answers = new Map<string, ClaimAnswer>();
  for (const row of rows) {
    const key = `${row.provider} ${row.event_id}`;
    const answer = answers.get(key) ?? { claim: null, status: null };
    answers.set(
      key,
      row.claim_no === null
        ? { ...answer, status: row.status }
        : { ...answer, claim: { id: row.id, claimNo: row.claim_no, heldAs: "pending" } },
    );
  }
  return deliveries.map((one) => answers.get(keyOf(one)) ?? { claim: null, status: null });
}

const CONFIRM = {
  name: "confirm_repeats",
  text: `
select d.provider, d.event_id, d.status
from json_to_recordset($1::json) as i (provider text, event_id text)
join webhook_delivery d on d.provider = i.provider and d.event_id = i.event_id
order by d.id
for key share of d`,
};

/**
 * Reads the status of deliveries that others have claimed, under a row lock: committing the lock durably makes
 * their claims durable, which were committed without waiting for the disk.
 */
export async function confirmRepeats(
  transaction: Queryable,
  keys: readonly { provider: Slot; eventId: string }[],
): Promise<(DeliveryStatus | null)[]> {
  const rows = await transaction.run<{ provider: string; event_id: string; status: DeliveryStatus }>(
    CONFIRM,
    [JSON.stringify(keys.map((key) => ({ provider: key.provider, event_id: key.eventId })))],
  );
  const statuses = new Map(rows.map((row) => [`${row.provider} ${row.event_id}`, row.status]));
  return keys.map((key) => statuses.get(keyOf(key)) ?? null);
}

const HOLD = {
  name: "hold_claims",
  text: `
select d.id
from unnest($1::bigint[], $2::int[], $3::text[]) as held (id, claim_no, held_as)
join webhook_delivery d on d.id = held.id and d.claim_no = held.claim_no and d.status = held.held_as
order by d.id
for no key update of d`,
};

/** The fence: locks the deliveries whose claims still hold, and returns their ids. The others are no longer ours. */
export async function holdClaims(transaction: Queryable, claims: readonly Claim[]): Promise<Set<string>> {
  const rows = await transaction.run<{ id: string }>(HOLD, [
    claims.map((claim) => claim.id),
    claims.map((claim) => claim.claimNo),
    claims.map((claim) => claim.heldAs),
  ]);
  return new Set(rows.map((row) => row.id));
}

export type Settlement = Claim & {
  source: AttemptSource;
  durationMs: number;
} & (
    | { outcome: "successful" }
    | {
        outcome: "failed";
        reason: string;
        /** `null`: no further attempt of our own. */
        retryInSeconds: number | null;
      }
  );

const SETTLE = {
  name: "settle_claims",
  text: `
with given as materialized (
  select * from json_to_recordset($1::json) as (
    id bigint, claim_no int, held_as text, source text, outcome text, reason text, retry_in float8, duration float8
  )
), settled as (
  update webhook_delivery d set
    status = case g.held_as when 'pending' then g.outcome else d.status end,
    last_error = case g.held_as when 'pending' then g.reason else d.last_error end,
    next_attempt_at = case g.held_as when 'pending' then clock_timestamp() + g.retry_in * interval '1 second' end,
    completed_at = case g.held_as when 'pending' then clock_timestamp() else d.completed_at end,
    lease_until = null
  from given g
  where d.id = g.id and d.claim_no = g.claim_no and d.status = g.held_as
  returning d.id, g.claim_no, g.source, g.outcome, g.reason, g.duration
)
insert into webhook_attempt (delivery_id, claim_no, source, outcome, reason, started_at, duration_ms)
select id, claim_no, source, outcome, reason, clock_timestamp() - duration * interval '1 millisecond', duration
from settled
returning delivery_id as id`,
};

/** Writes the outcome of attempts whose claims still hold; returns the ids of those. */
export async function settleClaims(
  transaction: Queryable,
  settlements: readonly Settlement[],
): Promise<Set<string>> {
  const rows = await transaction.run<{ id: string }>(SETTLE, [
    JSON.stringify(
      settlements.map((one) => ({
        id: one.id,
        claim_no: one.claimNo,
        held_as: one.heldAs,
        source: one.source,
        outcome: one.outcome,
        reason: one.outcome === "failed" ? one.reason : null,
        retry_in: one.outcome === "failed" ? one.retryInSeconds : null,
        duration: one.durationMs,
      })),
    ),
  ]);
  return new Set(rows.map((row) => row.id));
}

function keyOf(delivery: { provider: Slot; eventId: string }): string {
  return `${delivery.provider} ${delivery.eventId}`;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
