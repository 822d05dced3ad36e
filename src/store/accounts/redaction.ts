import { failureSentence } from "../../domain/deliveries/failures.ts";
import type { IdAtProvider, PersonIds } from "../../domain/events/person-ids.ts";
import type { Slot } from "../../domain/slot.ts";
import type { Queryable } from "../database.ts";

/** What must be redacted from the delivery log after an account was deleted, and the progress so far. */
export type Redaction = PersonIds & {
  /** Deliveries up to this id have been processed. */
  after: string;
  /** A new id was found: earlier deliveries must be searched again. */
  again: boolean;
};

const OPEN = {
  name: "open_redactions",
  text: `
select id as "userId", to_redact as "toRedact" from deleted_user
where to_redact is not null order by deleted_at limit 100`,
};

/** The oldest first, at most a hundred. */
export async function openRedactions(database: Queryable): Promise<Redaction[]> {
  type Row = { userId: string; toRedact: Omit<Redaction, "userId"> };
  const rows = await database.run<Row>(OPEN);
  return rows.map(({ userId, toRedact }) => ({ userId, ...toRedact }));
}

export type SuspectDelivery = {
  id: string;
  provider: Slot;
  eventType: string;
  format: string;
  payload: string;
  isFailed: boolean;
  /** Ids of the users who were deleted after its last attempt, which failed, had begun. */
  failedBefore: string[];
};

/** How many deliveries one query scans, and how many payloads of up to a megabyte it may return. */
const SCAN_SIZE = 2_000;
const MAX_SUSPECTS = 50;

// Up to the first one that was pending at the deletion: without its payload it could not be applied any more.
// Later ones are applied without the person.
const RANGE = {
  name: "redaction_range",
  text: `
with pending as materialized (
  select min(id) as id from webhook_delivery
  where status = 'pending' and id > $1::bigint and received_at < (
    select max(deleted_at) + interval '1 minute' from deleted_user where id = any ($2::text[])
  )
)
select (
  select max(id) from (
    select d.id from webhook_delivery d
    where d.id > $1::bigint and d.id < coalesce(pending.id, 9223372036854775807) order by d.id limit ${SCAN_SIZE}
  ) scanned
) as until, pending.id is not null as "isFollowed"
from pending`,
};

// JSON can escape any character, but only with a backslash: such payloads must be parsed. `offset` keeps
// PostgreSQL from converting the payload to text for each comparison.
const SUSPECTS = {
  name: "redaction_suspects",
  text: `
select d.id, d.provider, d.event_type as "eventType", d.format, said.payload, d.status = 'failed' as "isFailed",
  array(
    select u.id from deleted_user u
    where u.id = any ($4::text[]) and d.status = 'failed' and u.deleted_at > d.claimed_at
  ) as "failedBefore"
from webhook_delivery d cross join lateral (select d.payload::text as payload offset 0) said
where d.id > $1::bigint and d.id <= $2::bigint and d.payload is not null
  and (strpos(said.payload, '\\') > 0
    or exists (select from unnest($3::text[]) as given (person_id) where strpos(said.payload, person_id) > 0))
order by d.id limit ${MAX_SUSPECTS}`,
};

/**
 * The next deliveries after an id whose payloads may mention one of these people, and the id up to which that
 * is complete. `until: null`: the end of the log; `pending`: the next one is still to be applied.
 */
export async function nextSuspects(
  database: Queryable,
  redactions: readonly Pick<Redaction, "userId" | "subscriptions" | "customers">[],
  after: string,
): Promise<{ suspects: SuspectDelivery[]; until: string | "pending" | null }> {
  const [range] = await database.run<{ until: string | null; isFollowed: boolean }>(RANGE, [
    after,
    redactions.map(({ userId }) => userId),
  ]);
  if (!range?.until) return { suspects: [], until: range?.isFollowed ? "pending" : null };
  const ids = redactions.flatMap(({ userId, subscriptions, customers }) => [
    userId,
    ...[...subscriptions, ...customers].map(({ id }) => id),
  ]);
  const suspects = await database.run<SuspectDelivery>(SUSPECTS, [
    after,
    range.until,
    ids,
    redactions.map(({ userId }) => userId),
  ]);
  const last = suspects.at(-1);
  return { suspects, until: suspects.length === MAX_SUSPECTS && last ? last.id : range.until };
}

const HASTEN = {
  name: "hasten_retries",
  text: `
update webhook_delivery set next_attempt_at = clock_timestamp()
where id = any ($1::bigint[]) and status = 'failed' and payload is not null
  and coalesce(next_attempt_at > clock_timestamp(), true)`,
};

/** Has failed deliveries retried now, also those that were given up. */
export async function hastenRetries(database: Queryable, ids: readonly string[]): Promise<void> {
  await database.run(HASTEN, [ids]);
}

const SHARED = {
  name: "shared_customers",
  text: `
select s.provider, s.customer_id as id
from unnest($1::text[], $2::text[]) as given (provider, customer_id)
join subscription s on s.provider = given.provider and s.customer_id = given.customer_id
where s.user_id is not null`,
};

/** Customer ids that no remaining user pays with. */
export async function unclaimedCustomers(
  database: Queryable,
  customers: readonly IdAtProvider[],
): Promise<IdAtProvider[]> {
  if (customers.length === 0) return [];
  const shared = await database.run<IdAtProvider>(SHARED, [
    customers.map(({ provider }) => provider),
    customers.map(({ id }) => id),
  ]);
  return customers.filter(({ provider, id }) =>
    shared.every((shared) => shared.provider !== provider || shared.id !== id),
  );
}

const REDACTED = failureSentence({ reason: "redacted" });

// A failed delivery keeps its status and is not retried: its payload is gone. Reasons quote ids. While one of
// the step's deliveries is claimed, nothing is redacted: what comes of it is not known yet.
const REDACT = {
  name: "redact",
  text: `
with theirs as materialized (
  select id, status = 'pending' and id = any ($3::bigint[]) as is_claimed from webhook_delivery
  where id > $4::bigint and id <= $5::bigint
    and (id = any ($3::bigint[]) or (last_error is not null and strpos(last_error, $6::text) > 0)
      or (first_reason is not null and strpos(first_reason, $6::text) > 0))
  order by id for no key update
), step as materialized (
  select from theirs having not coalesce(bool_or(is_claimed), false)
), deliveries as (
  update webhook_delivery d
  set payload = case when d.id = any ($3::bigint[]) then null else d.payload end,
    next_attempt_at = case when d.id = any ($3::bigint[]) then null else d.next_attempt_at end,
    last_error = case when d.last_error is not null then '${REDACTED}' end,
    last_reason = case when d.last_error is not null then 'redacted' end,
    first_reason = case when d.first_reason is not null then '${REDACTED}' end,
    first_reason_id = case when d.first_reason is not null then 'redacted' end, first_reason_params = null
  from step, theirs where d.id = theirs.id and d.id > $4::bigint and d.id <= $5::bigint
), attempts as (
  update webhook_attempt set reason = '${REDACTED}', reason_id = 'redacted', reason_params = null
  from step where delivery_id > $4::bigint and delivery_id <= $5::bigint and reason is not null
    and (delivery_id = any ($3::bigint[]) or strpos(reason, $6::text) > 0)
)
update deleted_user set to_redact = $2::jsonb from step where id = $1 and to_redact = $7::jsonb returning id`,
};

/** One step from `before` to `next`, which is `null` when nothing is left. */
export type RedactionStep = {
  before: Redaction;
  next: Redaction | null;
  deliveryIds: readonly string[];
  /** Reasons are searched up to this delivery, too, for the quoted id of the person. */
  until: string;
  quotedId: string;
};

/** Applies the step; returns false when another process has already gone further, or is applying one of its deliveries. */
export async function redact(database: Queryable, step: RedactionStep): Promise<boolean> {
  const { before, next, deliveryIds, until, quotedId } = step;
  const rows = await database.run(REDACT, [
    before.userId,
    next && toStoredStep(next),
    deliveryIds,
    before.after,
    until,
    quotedId,
    toStoredStep(before),
  ]);
  return rows.length > 0;
}

function toStoredStep({ userId: _, ...toRedact }: Redaction): string {
  return JSON.stringify(toRedact);
}

const REDACT_HELD = {
  name: "redact_held",
  text: "update webhook_delivery set payload = null where id = any ($1::bigint[])",
};

/** Removes the payloads of deliveries that this transaction has locked. */
export async function redactHeld(transaction: Queryable, ids: readonly string[]): Promise<void> {
  await transaction.run(REDACT_HELD, [ids]);
}
