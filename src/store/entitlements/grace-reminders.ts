import type { PaymentReversal } from "../../domain/entitlements/access.ts";
import type { GraceReminder } from "../../domain/notifications/grace-reminders.ts";
import type { Queryable } from "../database.ts";
import { latestReversal } from "../subscriptions/subscription-access.ts";

export type PlanReminder = GraceReminder & {
  planId: string;
  graceSeconds: number;
  /** What of the latest payment has ended access already. */
  endedBy: readonly PaymentReversal[];
};

// Not where access has ended, or ends before the grace period does, whether or not the payment is made.
const SEND = {
  name: "send_grace_reminders",
  text: `
with due as materialized (
  select s.id, s.user_id, s.plan_id, s.past_due_since, r.stage,
    s.past_due_since + r.grace * interval '1 second' as ends_at
  from unnest($1::text[], $2::text[], $3::float8[], $4::float8[], $5::float8[], $8::text[])
    as r (plan_id, stage, starts, ends, grace, ended_by)
  join subscription s on s.plan_id = r.plan_id
  where s.past_due_since is not null and s.status = 'past_due' and s.user_id is not null
    and s.past_due_since <= $6::timestamptz - r.starts * interval '1 second'
    and s.past_due_since > $6::timestamptz - r.ends * interval '1 second'
    and (s.cancel_at_period_end and s.current_period_end < s.past_due_since + r.grace * interval '1 second') is not true
    and not exists (
      select from grace_reminder sent
      where sent.subscription_id = s.id and sent.past_due_since = s.past_due_since and sent.stage = r.stage
    )
    and ((${latestReversal()}) = any (string_to_array(r.ended_by, ','))) is not true
  order by s.id limit $7::int
), claimed as (
  insert into grace_reminder (subscription_id, past_due_since, stage)
  select id, past_due_since, stage from due
  on conflict do nothing
  returning subscription_id, stage
), sent as (
  insert into notification (user_id, kind, details)
  select due.user_id, case due.stage when 'middle' then 'grace_period_reminder' else 'grace_period_ending' end,
    jsonb_build_object('subscriptionId', due.id, 'planId', due.plan_id,
      'endsAt', to_char(due.ends_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))
  from claimed join due on due.id = claimed.subscription_id and due.stage = claimed.stage
  returning id
)
select count(*)::int as count from sent`,
};

/**
 * Notifies people whose grace period has reached a reminder, each once, at most `limit` of them. Returns how
 * many: the notifications are mailed like all others, in their readers' languages.
 */
export async function sendGraceReminders(
  database: Queryable,
  reminders: readonly PlanReminder[],
  { now, limit }: { now: Date; limit: number },
): Promise<number> {
  const [row] = await database.run<{ count: number }>(SEND, [
    reminders.map((reminder) => reminder.planId),
    reminders.map((reminder) => reminder.stage),
    reminders.map((reminder) => reminder.fromSeconds),
    reminders.map((reminder) => reminder.untilSeconds),
    reminders.map((reminder) => reminder.graceSeconds),
    now.toISOString(),
    limit,
    reminders.map((reminder) => reminder.endedBy.join(",")),
  ]);
  return row?.count ?? 0;
}
