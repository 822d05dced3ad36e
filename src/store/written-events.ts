import type {
  EventSubscription,
  OutboundEventType,
  SubscriptionEventType,
} from "../domain/outbound-event.ts";
import type { Slot } from "../domain/slot.ts";
import type { SubscriptionStatus } from "../domain/subscription-status.ts";
import type { OwnedFacts } from "../domain/user-changes.ts";
import type { Queryable } from "./database.ts";

/** What a transaction has written for the relay. */
export type Written = ({ kind: "event" } & WrittenEvent) | ({ kind: "change" } & WrittenChange);

/** An event, without what can be looked up later. */
export type WrittenEvent = {
  seq: string;
  type: OutboundEventType;
  subject: string;
  occurredAt: Date;
  data: Record<string, unknown>;
  /** Of the subscription of a `subscription.*` event. */
  createdAt: Date | null;
  /** Of the user that data names. */
  externalId: string | null;
};

/** A change of a subscription, which gives one event about it and one about each user's entitlements. */
export type WrittenChange = {
  seq: string;
  /** `null`: nothing that is shown of the subscription has changed. */
  type: SubscriptionEventType | null;
  occurredAt: Date;
  createdAt: Date;
  before: OwnedFacts | null;
  after: EventSubscription;
  externalIds: ReadonlyMap<string, string | null>;
};

const FOR_CHANGES = `created_at, user_id, provider, provider_subscription_id, plan_id, seats, status, current_period_end,
  cancel_at_period_end, out_of_order, before_user_id, before_plan_id, before_status, before_current_period_end,
  before_cancel_at_period_end`;

// Both in one statement, as one snapshot: of two, the later one could see what was written behind something that the earlier
// one has missed. Subqueries, not joins: a plan made for small tables reads the whole inner table in a join.
const WRITTEN = {
  name: "written_since",
  text: `
select w.*,
  (select u.external_id from "user" u where u.id = w.user_id) as external_id,
  case when w.before_user_id is distinct from w.user_id then (
    select u.external_id from "user" u where u.id = w.before_user_id
  ) end as before_external_id
from (
  (
    select seq, occurred_at, type, subscription_id::text as subject, null::json as data, ${FOR_CHANGES}
    from outbound_change where seq > $2::bigint order by seq limit $1::int
  ) union all (
    select e.seq, e.occurred_at, e.type, e.subject, e.data,
      case when e.type like 'subscription.%' then (
        select s.created_at from subscription s where s.id = e.subject::uuid
      ) end,
      coalesce(e.data -> 'subscription' ->> 'userId', e.data ->> 'userId'),
      null, null, null, null, null, null, null, null, null, null, null, null, null
    from (
      select * from outbound_event where position is null and seq > $2::bigint order by seq limit $1::int
    ) e
  )
  order by seq limit $1::int
) w
order by w.seq`,
};

type Row = {
  seq: string;
  occurred_at: Date;
  subject: string;
  created_at: Date | null;
  external_id: string | null;
} & (
  | { data: Record<string, unknown>; type: OutboundEventType }
  | ({ data: null; type: SubscriptionEventType | null; created_at: Date } & ChangeRow)
);

type ChangeRow = {
  user_id: string | null;
  provider: Slot;
  provider_subscription_id: string | null;
  plan_id: string;
  seats: number;
  status: SubscriptionStatus;
  current_period_end: Date | null;
  cancel_at_period_end: boolean;
  out_of_order: boolean;
  before_user_id: string | null;
  before_external_id: string | null;
} & (
  | { before_status: null }
  | {
      before_status: SubscriptionStatus;
      before_plan_id: string;
      before_current_period_end: Date | null;
      before_cancel_at_period_end: boolean;
    }
);

/** What is committed and not relayed, in the order in which it was written. */
export async function writtenSince(
  transaction: Queryable,
  { limit, after }: { limit: number; after: string },
): Promise<Written[]> {
  return (await transaction.run<Row>(WRITTEN, [limit, after])).map(toWritten);
}

function toWritten(row: Row): Written {
  const { seq, occurred_at: occurredAt, created_at: createdAt, external_id: externalId, subject } = row;
  if (row.data !== null) {
    const { type, data } = row;
    return { kind: "event", seq, type, subject, occurredAt, data, createdAt, externalId };
  }
  const externalIds = new Map<string, string | null>();
  if (row.before_user_id !== null) externalIds.set(row.before_user_id, row.before_external_id);
  if (row.user_id !== null) externalIds.set(row.user_id, externalId);
  return {
    ...{ kind: "change", seq, type: row.type, occurredAt, createdAt: row.created_at, externalIds },
    before:
      row.before_status === null
        ? null
        : {
            userId: row.before_user_id,
            planId: row.before_plan_id,
            status: row.before_status,
            currentPeriodEnd: row.before_current_period_end,
            cancelAtPeriodEnd: row.before_cancel_at_period_end,
          },
    after: {
      id: subject,
      userId: row.user_id,
      provider: row.provider,
      providerSubscriptionId: row.provider_subscription_id,
      planId: row.plan_id,
      seats: row.seats,
      status: row.status,
      currentPeriodEnd: row.current_period_end,
      cancelAtPeriodEnd: row.cancel_at_period_end,
      outOfOrder: row.out_of_order,
    },
  };
}

const TAKE_CHANGES = {
  name: "take_outbound_changes",
  text: "delete from outbound_change where seq = any ($1::bigint[])",
};

const DROP_EVENTS = {
  name: "drop_written_outbound_events",
  text: "delete from outbound_event where seq = any ($1::bigint[]) and position is null",
};

/** Removes what has become events of its own, and events that turned out to report no change. */
export function removeWritten(
  transaction: Queryable,
  { changes, events }: { changes: readonly string[]; events: readonly string[] },
): Promise<unknown>[] {
  return [
    ...(changes.length > 0 ? [transaction.run(TAKE_CHANGES, [changes])] : []),
    ...(events.length > 0 ? [transaction.run(DROP_EVENTS, [events])] : []),
  ];
}

const IS_WRITTEN = {
  name: "is_anything_written",
  text: `
select exists (select from outbound_change where seq > r.relayed_until)
  or exists (select from outbound_event where position is null and seq > r.relayed_until) as "isWritten"
from outbound_relay r where r.only_one`,
};

/** Whether there is anything to relay. */
export async function isAnythingWritten(database: Queryable): Promise<boolean> {
  const [row] = await database.run<{ isWritten: boolean }>(IS_WRITTEN);
  return row?.isWritten ?? false;
}
