import type { Slot } from "../../domain/slot.ts";
import { CHANGEABLE_STATUSES } from "../../domain/subscriptions/subscription-status.ts";
import type { Queryable } from "../database.ts";

export type ScheduledChange = {
  subscriptionId: string;
  planId: string;
  /** `null`: stored by a server of an earlier commit. */
  priceId: string | null;
  seats: number;
  takesEffectAt: Date;
};

const SAVE = {
  name: "save_scheduled_change",
  text: `
insert into scheduled_change (subscription_id, plan_id, price_id, seats, takes_effect_at) values ($1, $2, $3, $4, $5)
on conflict (subscription_id) do update set plan_id = excluded.plan_id, price_id = excluded.price_id,
  seats = excluded.seats, takes_effect_at = excluded.takes_effect_at`,
};

/** Replaces the one before. */
export async function saveScheduledChange(
  database: Queryable,
  { subscriptionId, planId, priceId, seats, takesEffectAt }: ScheduledChange,
): Promise<void> {
  await database.run(SAVE, [subscriptionId, planId, priceId, seats, takesEffectAt]);
}

const DELETE = {
  name: "delete_scheduled_change",
  text: "delete from scheduled_change where subscription_id = $1",
};

export async function deleteScheduledChange(database: Queryable, subscriptionId: string): Promise<void> {
  await database.run(DELETE, [subscriptionId]);
}

// One that has been made at the provider meanwhile, or will not be, is not waiting. The subscription's own price may be
// unknown until it has been compared.
const OF_USER = {
  name: "scheduled_changes_of_user",
  text: `
select c.subscription_id as "subscriptionId", c.plan_id as "planId", c.price_id as "priceId", c.seats,
  c.takes_effect_at as "takesEffectAt"
from scheduled_change c join subscription s on s.id = c.subscription_id
where s.user_id = $1 and c.takes_effect_at > $2 and s.status = any ($3::text[])
  and not s.cancel_at_period_end
  and (c.plan_id <> s.plan_id or c.price_id <> coalesce(s.price_id, '') or c.seats <> s.seats)`,
};

/** Of the user's subscriptions, those that change with their next period. */
export async function scheduledChangesOfUser(
  database: Queryable,
  userId: string,
  now: Date,
): Promise<ScheduledChange[]> {
  return database.run<ScheduledChange>(OF_USER, [userId, now, CHANGEABLE_STATUSES]);
}

const WAITING = {
  name: "waiting_scheduled_changes",
  text: `
select c.subscription_id as id from scheduled_change c join subscription s on s.id = c.subscription_id
where s.provider = $1 and c.takes_effect_at > clock_timestamp() and s.status = any ($2::text[])
order by c.subscription_id`,
};

/** The subscriptions of a slot for which a change waits. */
export async function findWaitingChanges(database: Queryable, slot: Slot): Promise<string[]> {
  const rows = await database.run<{ id: string }>(WAITING, [slot, CHANGEABLE_STATUSES]);
  return rows.map(({ id }) => id);
}

const VERSION_OF = {
  name: "version_of_scheduled_change",
  text: "select xmin::text as version from scheduled_change where subscription_id = $1",
};

/** Changes with each write; `null`: nothing waits. */
export async function scheduledChangeVersion(
  database: Queryable,
  subscriptionId: string,
): Promise<string | null> {
  const [row] = await database.run<{ version: string }>(VERSION_OF, [subscriptionId]);
  return row?.version ?? null;
}

const CORRECT = {
  name: "correct_scheduled_change",
  text: `
with input as (
  select $1::uuid as subscription_id, $3::text as plan_id, $4::text as price_id, $5::int as seats,
    $6::timestamptz as takes_effect_at
), updated as (
  update scheduled_change c set plan_id = input.plan_id, price_id = input.price_id, seats = input.seats,
    takes_effect_at = input.takes_effect_at
  from input where c.subscription_id = $1 and c.xmin::text = $2
)
insert into scheduled_change (subscription_id, plan_id, price_id, seats, takes_effect_at)
select * from input where $2::text is null
on conflict do nothing`,
};

const WITHDRAW = {
  name: "withdraw_scheduled_change",
  text: "delete from scheduled_change where subscription_id = $1 and xmin::text = $2",
};

/**
 * Stores what waits at the provider, unless another change has been stored since this version.
 * @param change `null`: nothing waits
 */
export async function correctScheduledChange(
  database: Queryable,
  subscriptionId: string,
  change: Omit<ScheduledChange, "subscriptionId"> | null,
  version: string | null,
): Promise<void> {
  if (change === null) await database.run(WITHDRAW, [subscriptionId, version]);
  else {
    const { planId, priceId, seats, takesEffectAt } = change;
    await database.run(CORRECT, [subscriptionId, version, planId, priceId, seats, takesEffectAt]);
  }
}
