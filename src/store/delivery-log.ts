import type { AttemptSource, DeliveryStatus } from "../domain/delivery.ts";
import type { Slot } from "../domain/slot.ts";
import type { Queryable, Statement } from "./database.ts";

export type LoggedDelivery = {
  id: string;
  provider: Slot;
  eventId: string;
  eventType: string;
  status: DeliveryStatus;
  /** How many times it has been claimed, the first time included. */
  attempts: number;
  lastError: string | null;
  receivedAt: Date;
  completedAt: Date | null;
  nextAttemptAt: Date | null;
};

export type LoggedAttempt = {
  attempt: number;
  source: AttemptSource;
  outcome: "successful" | "failed";
  reason: string | null;
  startedAt: Date;
  durationMs: number;
};

/** `null`: any. */
export type DeliveryFilter = {
  provider: Slot | null;
  status: DeliveryStatus | null;
  type: string | null;
};

/** Deliveries with ids below `before`, newest first; `before: null` starts with the newest. */
export type DeliveryPage = { before: string | null; limit: number };

const COLUMNS = `d.id, d.provider, d.event_id as "eventId", d.event_type as "eventType", d.status,
  d.claim_no as attempts, d.last_error as "lastError", d.received_at as "receivedAt",
  d.completed_at as "completedAt", d.next_attempt_at as "nextAttemptAt"`;

const GREATEST_ID = "9223372036854775807";

/** How far back one page looks for what passes the filter: no query may grow with the history. */
const LOOK_BACK = 20_000;

const LATEST = {
  name: "latest_deliveries",
  text: `
select ${COLUMNS}
from (select * from webhook_delivery where id < $1::bigint order by id desc limit ${LOOK_BACK}) d
where ($2::text is null or d.provider = $2) and ($3::text is null or d.event_type = $3)
  and ($5::text is null or d.status = $5)
order by d.id desc limit $4::int`,
};

const LOOKED = {
  name: "looked_at_deliveries",
  text: `
select min(id) as until, count(*)::int as count
from (select id from webhook_delivery where id < $1::bigint order by id desc limit ${LOOK_BACK}) looked`,
};

/**
 * One page of the log. `next` is where the following page begins, `null` at the end of the log. A page may be short,
 * or even empty, and still have a next one: then nothing more was found within its share of the log.
 */
export async function listLoggedDeliveries(
  database: Queryable,
  filter: DeliveryFilter,
  { before, limit }: DeliveryPage,
): Promise<{ deliveries: LoggedDelivery[]; next: string | null }> {
  const { status, provider, type } = filter;
  const start = before ?? GREATEST_ID;
  const isOpenWork = status === "pending" || status === "failed";
  // One more than asked for: whether there is a next page.
  const found = isOpenWork
    ? await database.run<LoggedDelivery>(OPEN[status], [start, provider, type, limit + 1])
    : await database.run<LoggedDelivery>(LATEST, [start, provider, type, limit + 1, status]);
  const deliveries = found.slice(0, limit);
  if (found.length > limit) return { deliveries, next: deliveries.at(-1)?.id ?? null };
  return { deliveries, next: isOpenWork ? null : await endOfLook(database, start) };
}

async function endOfLook(database: Queryable, start: string): Promise<string | null> {
  const [looked] = await database.run<{ until: string | null; count: number }>(LOOKED, [start]);
  return looked && looked.count >= LOOK_BACK ? looked.until : null;
}

// The status stands in the text: only so does the planner know that the partial index holds all that is asked for.
const OPEN: Record<"pending" | "failed", Statement> = {
  pending: openWork("pending"),
  failed: openWork("failed"),
};

function openWork(status: "pending" | "failed"): Statement {
  return {
    name: `${status}_deliveries`,
    text: `
with open as materialized (
  select id from webhook_delivery
  where status = '${status}' and ($2::text is null or provider = $2) and ($3::text is null or event_type = $3)
), page as (
  select id from open where id < $1::bigint order by id desc limit $4::int
)
select ${COLUMNS} from page join webhook_delivery d on d.id = page.id order by d.id desc`,
  };
}

const FIND = {
  name: "find_delivery",
  text: `select ${COLUMNS}, d.payload::text as payload from webhook_delivery d where d.id = $1::bigint`,
};

/** `payload` is the text as delivered; `null` when it has been pruned or redacted. */
export async function findLoggedDelivery(
  database: Queryable,
  id: string,
): Promise<(LoggedDelivery & { payload: string | null }) | null> {
  const [row] = await database.run<LoggedDelivery & { payload: string | null }>(FIND, [id]);
  return row ?? null;
}

const ATTEMPTS = {
  name: "attempts_of_delivery",
  text: `
select claim_no as attempt, source, outcome, reason, started_at as "startedAt", duration_ms as "durationMs"
from webhook_attempt where delivery_id = $1::bigint order by claim_no`,
};

/** What became of each attempt that is over, the first one first. */
export async function attemptsOf(database: Queryable, id: string): Promise<LoggedAttempt[]> {
  return database.run<LoggedAttempt>(ATTEMPTS, [id]);
}
