import type { Changes } from "../domain/changes.ts";
import type { AttemptSource, DeliveryStatus } from "../domain/delivery.ts";
import type { Slot } from "../domain/slot.ts";
import type { Queryable } from "./database.ts";
import { compareKeys, keyOf } from "./delivery-key.ts";

/** The right to process one delivery, until its lease ends or another claim takes it over. */
export type Claim = {
  id: string;
  /** After a crash PostgreSQL may assign an id again: the fence includes the event's name. */
  provider: Slot;
  eventId: string;
  claimNo: number;
  /** Starts at 1; claims that ended with a database time-out are not counted. */
  attemptNo: number;
  /** `successful` for a forced replay, which never changes the delivery's status. */
  heldAs: "pending" | "successful";
};

export type NewDelivery = {
  provider: Slot;
  eventId: string;
  eventType: string;
  format: string;
  occurredAtMicros: number | null;
  /** Whether it was delivered by webhook or fetched. */
  source: Extract<AttemptSource, "delivery" | "reconcile">;
  /** Well-formed JSON text. */
  payload: string;
};

/** The result of a claim; `status` is the existing delivery's, if there was one. */
export type ClaimAnswer = {
  claim: Claim | null;
  status: DeliveryStatus | null;
  /** Whether a flush must also reach the standbys: a commit visible here may not have. */
  isReplicated: boolean;
};

// JSON text never contains raw control characters, so payloads can be joined without quoting.
export const SEPARATOR = "\u001e";

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
    d.status = 'pending' and d.released_claim_no is distinct from d.claim_no as is_unreported
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
      and (b.status = 'successful' or (b.status = 'pending' and b.lease_until >= clock_timestamp()))
  )
  on conflict (provider, event_id) do update set
    status = 'pending', claim_no = d.claim_no + 1, claim_source = excluded.claim_source, claimed_at = clock_timestamp(),
    lease_until = clock_timestamp() + $7::float8 * interval '1 second', next_attempt_at = null, completed_at = null,
    last_error = case when d.status = 'pending' and d.released_claim_no is distinct from d.claim_no
      then 'lease expired' else d.last_error end,
    -- What is applied is what is stored: a provider may have changed the body meanwhile.
    event_type = excluded.event_type, format = excluded.format, occurred_at = excluded.occurred_at,
    payload = excluded.payload
  where d.status = 'failed' or (d.status = 'pending' and d.lease_until < clock_timestamp())
  returning d.id, d.provider, d.event_id, d.claim_no, d.claim_no - coalesce(d.released_claims, 0) as attempt_no
), expired as (
  insert into webhook_attempt (delivery_id, claim_no, source, outcome, reason, started_at, duration_ms)
  select b.id, b.claim_no, b.claim_source, 'failed', 'lease expired', b.claimed_at,
    extract(epoch from clock_timestamp() - b.claimed_at) * 1000
  from before b join claimed c on c.id = b.id and c.claim_no = b.claim_no + 1
  where b.is_unreported
  on conflict do nothing
)
select provider, event_id, id, claim_no, attempt_no, null as status, false as is_replicated from claimed
union all
select provider, event_id, id, null, null, status, current_setting('synchronous_standby_names') <> '' from before`,
};

/**
 * Claims every delivery that is new, failed, or whose lease has expired, in one statement. No event may be listed
 * twice. Returns results in the order of the list.
 */
export async function claimDeliveries(
  transaction: Queryable,
  deliveries: readonly NewDelivery[],
  leaseSeconds: number,
): Promise<ClaimAnswer[]> {
  // Sorted, so that two processes claiming the same events lock them in the same order.
  const sorted = deliveries.toSorted((a, b) => compareKeys(keyOf(a), keyOf(b)));
  const rows = await transaction.run<{
    provider: Slot;
    event_id: string;
    id: string;
    claim_no: number | null;
    attempt_no: number | null;
    status: DeliveryStatus | null;
    is_replicated: boolean;
  }>(CLAIM, [
    sorted.map((one) => one.provider),
    sorted.map((one) => one.eventId),
    sorted.map((one) => one.eventType),
    sorted.map((one) => one.format),
    sorted.map((one) => one.occurredAtMicros),
    sorted.map((one) => one.payload).join(SEPARATOR),
    leaseSeconds,
    sorted.map((one) => one.source),
  ]);
  const answers = new Map<string, ClaimAnswer>();
  for (const row of rows) {
    const { provider, event_id: eventId, claim_no: claimNo, attempt_no: attemptNo } = row;
    const key = keyOf({ provider, eventId });
    const answer = answers.get(key) ?? NEITHER;
    answers.set(
      key,
      claimNo === null || attemptNo === null
        ? { ...answer, status: row.status, isReplicated: row.is_replicated }
        : { ...answer, claim: { id: row.id, provider, eventId, claimNo, attemptNo, heldAs: "pending" } },
    );
  }
  return deliveries.map((one) => answers.get(keyOf(one)) ?? NEITHER);
}

const NEITHER: ClaimAnswer = { claim: null, status: null, isReplicated: false };

const CONFIRM = {
  name: "confirm_repeats",
  text: `
select d.provider, d.event_id, d.status
from unnest($1::text[], $2::text[]) as i (provider, event_id)
join webhook_delivery d on d.provider = i.provider and d.event_id = i.event_id
where d.provider = any ($1::text[]) and d.event_id = any ($2::text[])
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
    [keys.map((key) => key.provider), keys.map((key) => key.eventId)],
  );
  const statuses = new Map(
    rows.map((row) => [keyOf({ provider: row.provider, eventId: row.event_id }), row.status]),
  );
  return keys.map((key) => statuses.get(keyOf(key)) ?? null);
}

const FENCE = {
  name: "fence_claims",
  text: `
update webhook_delivery d set status = 'successful', lease_until = null,
  last_error = case held.held_as when 'pending' then null else d.last_error end,
  completed_at = case held.held_as when 'pending' then clock_timestamp() else d.completed_at end
from unnest($1::bigint[], $2::int[], $3::text[], $4::text[], $5::text[])
  as held (id, claim_no, held_as, provider, event_id)
where d.id = held.id and d.id = any ($1::bigint[]) and d.claim_no = held.claim_no and d.status = held.held_as
  and d.provider = held.provider and d.event_id = held.event_id
returning d.id`,
};

/**
 * The fence: locks the deliveries whose claims still hold and returns their ids. They are marked successful at once,
 * invisibly until the commit; those that fail are marked again.
 */
export async function fenceClaims(transaction: Queryable, claims: readonly Claim[]): Promise<Set<string>> {
  const sorted = claims.toSorted((a, b) => Number(a.id) - Number(b.id));
  const rows = await transaction.run<{ id: string }>(FENCE, [
    sorted.map((claim) => claim.id),
    sorted.map((claim) => claim.claimNo),
    sorted.map((claim) => claim.heldAs),
    sorted.map((claim) => claim.provider),
    sorted.map((claim) => claim.eventId),
  ]);
  return new Set(rows.map((row) => row.id));
}

const RELEASE = {
  name: "release_claims",
  text: `
update webhook_delivery d set lease_until = clock_timestamp() + interval '1 second',
  released_claims = coalesce(d.released_claims, 0) + 1, released_claim_no = d.claim_no
from unnest($1::bigint[], $2::int[], $3::text[], $4::text[]) as held (id, claim_no, provider, event_id)
where d.id = held.id and d.id = any ($1::bigint[]) and d.claim_no = held.claim_no and d.status = 'pending'
  and d.provider = held.provider and d.event_id = held.event_id
  and d.released_claim_no is distinct from d.claim_no`,
};

/** Releases claims that a database time-out ended: they may be taken over after a second, and use up no attempt. */
export async function releaseClaims(transaction: Queryable, claims: readonly Claim[]): Promise<void> {
  const pending = claims
    .filter((claim) => claim.heldAs === "pending")
    .sort((a, b) => Number(a.id) - Number(b.id));
  await transaction.run(RELEASE, [
    pending.map((claim) => claim.id),
    pending.map((claim) => claim.claimNo),
    pending.map((claim) => claim.provider),
    pending.map((claim) => claim.eventId),
  ]);
}

export type Failure = Claim & {
  reason: string;
  /** `null`: no further automatic attempt. */
  retryInSeconds: number | null;
};

const FAIL = {
  name: "fail_claims",
  text: `
update webhook_delivery d set status = 'failed', last_error = f.reason,
  next_attempt_at = clock_timestamp() + f.retry_in * interval '1 second'
from unnest($1::bigint[], $2::text[], $3::float8[]) as f (id, reason, retry_in)
where d.id = f.id and d.id = any ($1::bigint[])`,
};

/** Marks deliveries as failed that this transaction has locked. A forced replay leaves its delivery unchanged. */
export async function failClaims(transaction: Queryable, failures: readonly Failure[]): Promise<void> {
  const written = failures.filter((failure) => failure.heldAs === "pending");
  if (written.length === 0) return;
  await transaction.run(FAIL, [
    written.map((failure) => failure.id),
    written.map((failure) => failure.reason),
    written.map((failure) => failure.retryInSeconds),
  ]);
}

export type Attempt = Claim & {
  source: AttemptSource;
  /** `null`: it succeeded. */
  failedBecause: string | null;
  durationMs: number;
  /** `null`: nothing. */
  changed: { subscriptionId: string; changes: Changes } | null;
};

const LOG = {
  name: "log_attempts",
  text: `
insert into webhook_attempt
  (delivery_id, claim_no, source, outcome, reason, started_at, duration_ms, subscription_id, changes, changed_at)
select id, claim_no, source, case when reason is null then 'successful' else 'failed' end, reason,
  logged.at - duration * interval '1 millisecond', duration, subscription_id, changes::json,
  case when changes is not null then logged.at + place * interval '1 microsecond' end
from (select clock_timestamp() as at offset 0) logged
cross join unnest(
  $1::bigint[], $2::int[], $3::text[], $4::text[], $5::float8[], $6::uuid[],
  string_to_array($7::text, U&'\\001E', '')
) with ordinality as a (id, claim_no, source, reason, duration, subscription_id, changes, place)`,
};

/** Records attempts that have just ended, in the order in which they were applied. */
export async function logAttempts(transaction: Queryable, attempts: readonly Attempt[]): Promise<void> {
  await transaction.run(LOG, [
    attempts.map((attempt) => attempt.id),
    attempts.map((attempt) => attempt.claimNo),
    attempts.map((attempt) => attempt.source),
    attempts.map((attempt) => attempt.failedBecause),
    attempts.map((attempt) => attempt.durationMs),
    attempts.map(({ changed }) => changed?.subscriptionId),
    attempts.map(({ changed }) => (changed ? JSON.stringify(changed.changes) : "")).join(SEPARATOR),
  ]);
}
