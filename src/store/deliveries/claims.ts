import { type Failure, failureSentence } from "../../domain/deliveries/failures.ts";
import type { Slot } from "../../domain/slot.ts";
import type { Queryable } from "../database.ts";
import { storedFailure } from "./stored-failure.ts";

/** The right to process one delivery, until its lease ends or another claim takes it over. */
export type Claim = {
  id: string;
  /** After a crash PostgreSQL may assign an id again: the fence includes the event's name. */
  provider: Slot;
  eventId: string;
  claimNo: number;
  /** Starts at 1; claims that a timeout, deadlock or lack of space ended are not counted. */
  attemptNo: number;
  /** `successful` for a forced replay, which never changes the delivery's status. */
  heldAs: "pending" | "successful";
};

/** SQL: the attempts at the delivery `d` so far, see `Claim.attemptNo`. */
export const ATTEMPT_NO = "d.claim_no - coalesce(d.released_claims, 0)";

/** SQL: whether the last claim of the delivery `d` has neither ended nor been released: once its lease is over, its attempt never finished. */
export const IS_UNREPORTED = "(d.status = 'pending' and d.released_claim_no is distinct from d.claim_no)";

/** What a delivery says whose last attempt never finished. */
export const LEASE_EXPIRED = failureSentence({ reason: "lease_expired" });

/**
 * Whether the lease of a pending delivery is over. A claim of later than now was made while the database's
 * clock was ahead, as before a failover.
 * @param delivery the alias of its table
 */
export function isLeaseOver(delivery: string): string {
  return `(${delivery}.lease_until < clock_timestamp()
    or ${delivery}.claimed_at > clock_timestamp() + interval '1 minute')`;
}

/**
 * SQL: how a claim updates the delivery `d`.
 * @param source what caused the attempt
 */
export function claimAgain(source: string, leaseSeconds: `$${number}`): string {
  return `
    status = 'pending', claim_no = d.claim_no + 1, claim_source = ${source}, claimed_at = clock_timestamp(),
    lease_until = clock_timestamp() + ${leaseSeconds}::float8 * interval '1 second',
    next_attempt_at = null, completed_at = null,
    last_error = case when ${IS_UNREPORTED} then '${LEASE_EXPIRED}' else d.last_error end,
    last_reason = case when ${IS_UNREPORTED} then 'lease_expired' else d.last_reason end`;
}

const FENCE = {
  name: "fence_claims",
  text: `
update webhook_delivery d set status = 'successful', lease_until = null,
  last_error = case held.held_as when 'pending' then null else d.last_error end,
  last_reason = case held.held_as when 'pending' then null else d.last_reason end,
  completed_at = case held.held_as when 'pending' then clock_timestamp() else d.completed_at end
from unnest($1::bigint[], $2::int[], $3::text[], $4::text[], $5::text[])
  as held (id, claim_no, held_as, provider, event_id)
where d.id = held.id and d.id = any ($1::bigint[]) and d.claim_no = held.claim_no and d.status = held.held_as
  and d.provider = held.provider and d.event_id = held.event_id
returning d.id, d.claim_no as "claimNo"`,
};

/**
 * The fence: locks the deliveries whose claims still hold and returns these claims. The deliveries are marked
 * successful at once, invisibly until the commit; those that fail are marked again.
 */
export async function fenceClaims(transaction: Queryable, claims: readonly Claim[]): Promise<Set<Claim>> {
  const sorted = claims.toSorted((a, b) => Number(a.id) - Number(b.id));
  const rows = await transaction.run<Pick<Claim, "id" | "claimNo">>(FENCE, [
    sorted.map((claim) => claim.id),
    sorted.map((claim) => claim.claimNo),
    sorted.map((claim) => claim.heldAs),
    sorted.map((claim) => claim.provider),
    sorted.map((claim) => claim.eventId),
  ]);
  // By number too: a delivery may be listed with a stale claim and the current one.
  const held = new Map(rows.map(({ id, claimNo }) => [id, claimNo]));
  return new Set(claims.filter(({ id, claimNo }) => held.get(id) === claimNo));
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

/**
 * Releases claims that a timeout, deadlock or lack of space ended: they may be taken over after a second, and
 * use up no attempt.
 */
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

export type FailedClaim = Claim & {
  failure: Failure;
  /** `null`: no further automatic attempt. */
  retryInSeconds: number | null;
};

const FAIL = {
  name: "fail_claims",
  text: `
update webhook_delivery d set status = 'failed', last_error = f.failure->>'error', last_reason = f.failure->>'reason',
  next_attempt_at = clock_timestamp() + f.retry_in * interval '1 second'
from unnest($1::bigint[], $2::json[], $3::float8[]) as f (id, failure, retry_in)
where d.id = f.id and d.id = any ($1::bigint[])`,
};

/**
 * Marks deliveries as failed that this transaction has locked. A forced replay leaves its delivery unchanged.
 */
export async function failClaims(transaction: Queryable, failures: readonly FailedClaim[]): Promise<void> {
  const written = failures.filter((failure) => failure.heldAs === "pending");
  if (written.length === 0) return;
  await transaction.run(FAIL, [
    written.map((failure) => failure.id),
    written.map(({ failure }) => storedFailure(failure)),
    written.map((failure) => failure.retryInSeconds),
  ]);
}
