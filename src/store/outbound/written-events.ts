import type { OutboundEventType } from "../../domain/outbound/outbound-event.ts";
import type { Queryable } from "../database.ts";
import { decodeChanges, type RecordedChange } from "./change-set.ts";
import { readingError } from "./reading-error.ts";

/** What a transaction has written for the relay; `change`: by a server of an earlier release. */
export type Written = ({ kind: "event" } & WrittenEvent) | ({ kind: "set" | "change" } & WrittenChange);

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
export type WrittenChange = RecordedChange & {
  /** Of all changes of its transaction. */
  seq: string;
  occurredAt: Date;
  createdAt: Date;
  /** Of the users who have one. */
  externalIds: ReadonlyMap<string, string>;
};

/** A row of changes that cannot be read: corrupted, or written by a later release. */
export type UnreadableSet = { seq: string; error: string };

/** What has been written, oldest first; `isLast`: there is no more. */
export type WrittenList = {
  written: Written[];
  unreadable: UnreadableSet[];
  /** Of the last row, readable or not; `null`: there is none. */
  lastSeq: string | null;
  isLast: boolean;
};

// One statement, which sees one snapshot: the second of two could see rows that follow others which the first
// has missed. `outbound_change` has one change per row: servers of an earlier release write it.
const WRITTEN = {
  name: "written_since",
  text: `
select w.*, (select u.external_id from "user" u where u.id = w.user_id) as external_id
from (
  (
    select seq, 'set' as kind, changes_count as count, changes, occurred_at as occurred_seconds,
      created_at as created_seconds, null::text as type, null::text as subject, null::timestamptz as occurred_at,
      null::json as data, null::timestamptz as created_at, null::text as user_id
    from outbound_change_set
    where seq > $2::bigint and seq <= (
      select max(seq) from (
        select seq, sum(changes_count) over (order by seq) - changes_count as earlier
        from (
          select seq, changes_count from outbound_change_set where seq > $2::bigint order by seq limit $1::int
        ) counted
      ) summed
      where earlier < $1::int
    )
    order by seq limit $1::int
  ) union all (
    select seq, 'change', 1, convert_to(json_build_array(json_build_array(subscription_id, type, user_id, provider,
        provider_subscription_id, plan_id, seats, status, date_part('epoch', current_period_end) * 1000,
        cancel_at_period_end, out_of_order, case when before_status is not null then json_build_array(before_user_id,
          before_plan_id, before_status, date_part('epoch', before_current_period_end) * 1000,
          before_cancel_at_period_end) end))::text, 'UTF8'),
      array[date_part('epoch', occurred_at)], array[date_part('epoch', created_at)],
      null, null, null, null, null, null
    from outbound_change where seq > $2::bigint order by seq limit $1::int
  ) union all (
    select e.seq, 'event', 1, null, null, null, e.type, e.subject, e.occurred_at, e.data,
      case when e.type like 'subscription.%' then (
        select s.created_at from subscription s where s.id = e.subject::uuid
      ) end,
      coalesce(e.data -> 'subscription' ->> 'userId', e.data ->> 'userId')
    from (
      select * from outbound_event where position is null and seq > $2::bigint order by seq limit $1::int
    ) e
  )
) w
order by w.seq`,
};

type Row = EventRow | ChangesRow;

type EventRow = {
  kind: "event";
  seq: string;
  count: number;
  type: OutboundEventType;
  subject: string;
  occurred_at: Date;
  data: Record<string, unknown>;
  created_at: Date | null;
  external_id: string | null;
};

type ChangesRow = {
  kind: "set" | "change";
  seq: string;
  count: number;
  changes: Buffer;
  occurred_seconds: number[];
  created_seconds: number[];
};

/**
 * What is committed and not relayed, in the order in which it was written; of each kind about `limit` at
 * most.
 */
export async function writtenSince(
  transaction: Queryable,
  { limit, after }: { limit: number; after: string },
): Promise<WrittenList> {
  const { rows, isLast } = untilFull(await transaction.run<Row>(WRITTEN, [limit, after]), limit);
  const changes = new Map<Row, RecordedChange[]>();
  const unreadable: UnreadableSet[] = [];
  for (const row of rows) {
    if (row.kind === "event") continue;
    try {
      changes.set(row, changesOf(row));
    } catch (error) {
      // Those of the other kind are made by the statement above.
      if (row.kind === "change") throw error;
      unreadable.push({ seq: row.seq, error: readingError(error) });
    }
  }
  const externalIds = await findExternalIds(transaction, [...changes.values()].flat());
  const written = rows.flatMap((row): Written[] => {
    if (row.kind === "event") return [toEvent(row)];
    return (changes.get(row) ?? []).map((change, index) => ({
      kind: row.kind,
      seq: row.seq,
      externalIds,
      ...change,
      occurredAt: dateOf(row.occurred_seconds[index] as number),
      createdAt: dateOf(row.created_seconds[index] as number),
    }));
  });
  return { written, unreadable, lastSeq: rows.at(-1)?.seq ?? null, isLast };
}

function changesOf({ changes, count, occurred_seconds, created_seconds }: ChangesRow): RecordedChange[] {
  const decoded = decodeChanges(changes);
  if ([decoded, occurred_seconds, created_seconds].some(({ length }) => length !== count))
    throw new Error(`there are not ${count} changes and as many times`);
  return decoded;
}

/**
 * A kind that has reached the limit may have further rows, which come before the later rows of the other
 * kinds.
 */
function untilFull(rows: readonly Row[], limit: number): { rows: readonly Row[]; isLast: boolean } {
  const counts = { set: 0, change: 0, event: 0 };
  const lasts = { set: 0, change: 0, event: 0 };
  for (const [index, { kind, count }] of rows.entries()) {
    counts[kind] += count;
    lasts[kind] = index;
  }
  const full = (["set", "change", "event"] as const).filter((kind) => counts[kind] >= limit);
  if (full.length === 0) return { rows, isLast: true };
  return { rows: rows.slice(0, Math.min(...full.map((kind) => lasts[kind])) + 1), isLast: false };
}

function toEvent(row: EventRow): Written {
  const { kind, seq, type, subject, data, occurred_at, created_at, external_id } = row;
  return {
    kind,
    seq,
    type,
    subject,
    data,
    occurredAt: occurred_at,
    createdAt: created_at,
    externalId: external_id,
  };
}

/** PostgreSQL stores microseconds: further digits come from the conversion. */
function dateOf(seconds: number): Date {
  return new Date(Math.floor(Math.round(seconds * 1_000_000) / 1_000));
}

const EXTERNAL_IDS = {
  name: "external_ids_of_users",
  text: `select id, external_id as "externalId" from "user" where id = any ($1::text[]) and external_id is not null`,
};

async function findExternalIds(
  transaction: Queryable,
  changes: readonly RecordedChange[],
): Promise<Map<string, string>> {
  const userIds = new Set<string>();
  for (const { before, after } of changes) {
    if (after.userId !== null) userIds.add(after.userId);
    if (before !== null && before.userId !== null) userIds.add(before.userId);
  }
  if (userIds.size === 0) return new Map();
  const users = await transaction.run<{ id: string; externalId: string }>(EXTERNAL_IDS, [[...userIds]]);
  return new Map(users.map(({ id, externalId }) => [id, externalId]));
}

const IS_WRITTEN = {
  name: "is_anything_written",
  text: `
select exists (select from outbound_change_set where seq > r.relayed_up_to)
  or exists (select from outbound_change where seq > r.relayed_up_to)
  or exists (select from outbound_event where position is null and seq > r.relayed_up_to) as "isWritten"
from outbound_relay r where r.only_one`,
};

/** Whether there is anything to relay. */
export async function isAnythingWritten(database: Queryable): Promise<boolean> {
  const [row] = await database.run<{ isWritten: boolean }>(IS_WRITTEN);
  return row?.isWritten ?? false;
}
