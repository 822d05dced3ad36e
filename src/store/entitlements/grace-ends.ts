import type { Queryable } from "../database.ts";
import { storedFacts } from "./entitlement-events.ts";

export type PlanGrace = { planId: string; graceSeconds: number };

// Skips a subscription that was created after its grace period: it never gave access. Emits nothing if the
// failed renewal was reported after the grace period: that report's own event was enough.
const RECORD = {
  name: "record_grace_ends",
  text: `
with due as materialized (
  select s.id, s.user_id, s.past_due_since, grace.ends_at
  from subscription s
  left join unnest($1::text[], $2::float8[]) as r (plan_id, seconds) on r.plan_id = s.plan_id
  cross join lateral (select s.past_due_since + coalesce(r.seconds, $3::float8) * interval '1 second' as ends_at) grace
  where s.past_due_since is not null and s.status = 'past_due' and s.user_id is not null
    and grace.ends_at <= $4::timestamptz and s.created_at < grace.ends_at
    and not exists (
      select from grace_reminder sent
      where sent.subscription_id = s.id and sent.past_due_since = s.past_due_since and sent.stage = 'over'
    )
  order by s.id limit $5::int
  for no key update of s skip locked
), claimed as (
  insert into grace_reminder (subscription_id, past_due_since, stage)
  select id, past_due_since, 'over' from due
  on conflict do nothing
  returning subscription_id
), emitted as (
  insert into outbound_event (type, subject, occurred_at, data)
  select 'entitlements.changed', md5('user ' || due.user_id), greatest($4::timestamptz, due.ends_at), json_build_object(
    'userId', due.user_id,
    'change', json_build_object(${storedFacts("due.user_id")}, 'changedAt', due.ends_at)
  )
  from claimed join due on due.id = claimed.subscription_id
  where not exists (
    select from outbound_event e
    where e.user_id = due.user_id and e.type = 'entitlements.changed' and e.occurred_at >= due.ends_at
  )
)
select count(*)::int as count from claimed`,
};

/**
 * Records grace periods that are over, each once, and writes an event for its person; at most `limit`.
 * Returns how many.
 * @param otherwiseSeconds the grace period of plans that are not listed
 */
export async function recordGraceEnds(
  database: Queryable,
  plans: readonly PlanGrace[],
  { otherwiseSeconds, now, limit }: { otherwiseSeconds: number; now: Date; limit: number },
): Promise<number> {
  const [row] = await database.run<{ count: number }>(RECORD, [
    plans.map((plan) => plan.planId),
    plans.map((plan) => plan.graceSeconds),
    otherwiseSeconds,
    now.toISOString(),
    limit,
  ]);
  return row?.count ?? 0;
}
