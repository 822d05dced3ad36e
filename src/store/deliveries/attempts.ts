import type { AttemptSource } from "../../domain/deliveries/delivery.ts";
import { type Failure, type FailureReason, failureSentence } from "../../domain/deliveries/failures.ts";
import type { Changes } from "../../domain/subscriptions/changes.ts";
import type { Queryable } from "../database.ts";
import { SEPARATOR } from "../driver/separator.ts";
import type { Claim } from "./claims.ts";
import { storedFailure } from "./stored-failure.ts";

export type Attempt = Claim & {
  source: AttemptSource;
  /** `null`: it succeeded. */
  failure: Failure | null;
  durationMs: number;
  /** `null`: nothing. */
  changed: { subscriptionId: string; changes: Changes } | null;
};

const LOG = {
  name: "log_attempts",
  text: `
insert into webhook_attempt
  (delivery_id, claim_no, source, outcome, reason, reason_id, reason_params, started_at, duration_ms, subscription_id,
    changes, changed_at)
select id, claim_no, source, case when failure is null then 'successful' else 'failed' end, failure->>'error',
  failure->>'reason', failure->'params',
  logged.at - duration * interval '1 millisecond', duration, subscription_id, changes::json,
  case when changes is not null then logged.at + ordinal * interval '1 microsecond' end
from (select clock_timestamp() as at offset 0) logged
cross join unnest(
  $1::bigint[], $2::int[], $3::text[], $4::json[], $5::float8[], $6::uuid[],
  string_to_array($7::text, U&'\\001E', '')
) with ordinality as a (id, claim_no, source, failure, duration, subscription_id, changes, ordinal)`,
};

/** Records attempts that have just ended, in the order in which they were applied. */
export async function logAttempts(transaction: Queryable, attempts: readonly Attempt[]): Promise<void> {
  await transaction.run(LOG, [
    attempts.map((attempt) => attempt.id),
    attempts.map((attempt) => attempt.claimNo),
    attempts.map((attempt) => attempt.source),
    attempts.map(({ failure }) => storedFailure(failure)),
    attempts.map((attempt) => attempt.durationMs),
    attempts.map(({ changed }) => changed?.subscriptionId),
    attempts.map(({ changed }) => (changed ? JSON.stringify(changed.changes) : "")).join(SEPARATOR),
  ]);
}

/** SQL that records attempts that have ended without an outcome: those of the claims in `from`. */
export function logUnfinished(
  reason: Extract<FailureReason, "lease_expired" | "not_reported">,
  from: string,
): string {
  return `
  insert into webhook_attempt (delivery_id, claim_no, source, outcome, reason, reason_id, started_at, duration_ms)
  select id, claim_no, claim_source, 'failed', '${failureSentence({ reason })}', '${reason}', claimed_at,
    extract(epoch from clock_timestamp() - claimed_at) * 1000
  from ${from}
  on conflict do nothing`;
}
