import type { DeliveryStatus } from "../../domain/deliveries/delivery.ts";
import type { FailureReason } from "../../domain/deliveries/failures.ts";
import { SLOTS, type Slot } from "../../domain/slot.ts";
import type { Queryable, Statement } from "../database.ts";
import { ATTEMPT_NO } from "./claims.ts";
import { IS_IN_ANY_BLOCK } from "./delivery-block.ts";

export type LoggedDelivery = {
  id: string;
  provider: Slot;
  eventId: string;
  eventType: string;
  status: DeliveryStatus;
  /** Attempts started so far, including the first; those that a database timeout ended are not counted. */
  attempts: number;
  /** One English sentence. */
  lastError: string | null;
  /** `null`: none, or it was stored by a release without reasons. */
  lastReason: FailureReason | null;
  receivedAt: Date;
  completedAt: Date | null;
  nextAttemptAt: Date | null;
};

/** `null`: any. */
export type DeliveryFilter = {
  provider: Slot | null;
  status: DeliveryStatus | null;
  type: string | null;
  /** The full id: the index does not support prefixes. */
  eventId: string | null;
  /** Deliveries that changed this subscription. */
  subscriptionId: string | null;
};

/** Deliveries with ids below `before`, newest first; `before: null` starts with the newest. */
export type DeliveryPage = { before: string | null; limit: number };

export const COLUMNS = `d.id, d.provider, d.event_id as "eventId", d.event_type as "eventType", d.status,
  ${ATTEMPT_NO} as attempts, d.last_error as "lastError",
  -- The release before writes the sentence alone.
  case when d.last_error is not null then d.last_reason end as "lastReason", d.received_at as "receivedAt",
  d.completed_at as "completedAt", d.next_attempt_at as "nextAttemptAt"`;

const GREATEST_ID = "9223372036854775807";

/** How many rows one page may scan for matches: no query may grow with the history. */
const SCAN_LIMIT = 20_000;

const LATEST: Statement = {
  name: "latest_deliveries",
  runsAlone: true,
  text: `
select ${COLUMNS}
from (select * from webhook_delivery where id < $1::bigint order by id desc limit ${SCAN_LIMIT}) d
where ($2::text is null or d.provider = $2) and ($3::text is null or d.event_type = $3)
  and ($5::text is null or d.status = $5)
order by d.id desc limit $4::int`,
};

// Page and end of the scan come from one snapshot: deliveries that arrive between two statements would move
// the end.
const SCAN: Statement = {
  name: "scan_deliveries",
  runsAlone: true,
  text: `
with scanned as materialized (
  select id, provider, event_type, status from webhook_delivery
  where id < $1::bigint order by id desc limit ${SCAN_LIMIT}
), page as (
  select id from scanned
  where ($2::text is null or provider = $2) and ($3::text is null or event_type = $3)
    and ($5::text is null or status = $5)
  order by id desc limit $4::int
)
select ${COLUMNS}, scan.until, scan.count as "scanCount"
from (select min(id) as until, count(*)::int as count from scanned) scan
left join (page join webhook_delivery d on d.id = page.id) on true
order by d.id desc`,
};

/**
 * One page of the log. `next` is the cursor of the following page, `null` at the end. A page may be short or
 * empty and still have a next one: its share of the log had no more matches.
 */
export async function listLoggedDeliveries(
  database: Queryable,
  filter: DeliveryFilter,
  { before, limit }: DeliveryPage,
): Promise<ListedPage> {
  const start = before ?? GREATEST_ID;
  const indexed = indexedFor(filter);
  // One extra row shows whether there is a next page.
  const values = [start, filter.provider, filter.type, limit + 1];
  const deliveries = indexed
    ? await database.run<LoggedDelivery>(indexed.statement, [...values, ...indexed.values])
    : await database.run<LoggedDelivery>(LATEST, [...values, filter.status]);
  if (deliveries.length > limit) return fullPage(deliveries, limit);
  return indexed ? { deliveries, next: null } : scan(database, [...values, filter.status], limit);
}

type ListedPage = { deliveries: LoggedDelivery[]; next: string | null };

function fullPage(rows: LoggedDelivery[], limit: number): ListedPage {
  const deliveries = rows.slice(0, limit);
  return { deliveries, next: deliveries.at(-1)?.id ?? null };
}

/** Slower than the plain page: only here the whole share of the log is scanned. */
async function scan(database: Queryable, values: unknown[], limit: number): Promise<ListedPage> {
  const rows = await database.run<LoggedDelivery & { until: string | null; scanCount: number }>(SCAN, values);
  const [{ until = null, scanCount = 0 } = {}] = rows;
  const deliveries = rows
    .filter(({ id }) => id !== null)
    .map(({ until: _until, scanCount: _count, ...delivery }) => delivery);
  if (deliveries.length > limit) return fullPage(deliveries, limit);
  return { deliveries, next: scanCount >= SCAN_LIMIT ? until : null };
}

/** The statement that finds all matches through an index; `null`: no index fits and the log is scanned. */
function indexedFor({ status, provider, eventId, subscriptionId }: DeliveryFilter) {
  if (eventId !== null) {
    const slots = provider === null ? SLOTS : [provider];
    return { statement: OF_EVENT, values: [status, eventId, slots, subscriptionId] };
  }
  if (subscriptionId !== null) return { statement: OF_SUBSCRIPTION, values: [status, subscriptionId] };
  return status === "pending" || status === "failed" ? { statement: OPEN[status], values: [] } : null;
}

// The status is inlined: the planner uses a partial index only for a constant condition.
const OPEN: Record<"pending" | "failed", Statement> = {
  pending: pageOf("pending_deliveries", "select * from webhook_delivery where status = 'pending'"),
  failed: pageOf("failed_deliveries", "select * from webhook_delivery where status = 'failed'"),
};

const OF_EVENT = pageOf(
  "deliveries_of_event",
  `select * from webhook_delivery d where event_id = $6::text and provider = any ($7::text[])
    and ($5::text is null or status = $5)
    and ($8::uuid is null
      or first_subscription_id = $8::uuid
      or exists (select from webhook_attempt a where a.delivery_id = d.id and a.subscription_id = $8::uuid))`,
);

const OF_SUBSCRIPTION = pageOf(
  "deliveries_of_subscription",
  `select d.* from (
      select distinct a.delivery_id from webhook_attempts a
      where a.subscription_id = $6::uuid and ${IS_IN_ANY_BLOCK}
    ) changed
    join webhook_delivery d on d.id = changed.delivery_id
    where $5::text is null or d.status = $5`,
);

/** @param indexedSql SQL of the deliveries that an index finds, before further filters */
function pageOf(name: string, indexedSql: string): Statement {
  return {
    name,
    runsAlone: true,
    text: `
with found as materialized (
  select id from (${indexedSql}) indexed
  where ($2::text is null or provider = $2) and ($3::text is null or event_type = $3)
), page as (
  select id from found where id < $1::bigint order by id desc limit $4::int
)
select ${COLUMNS} from page join webhook_delivery d on d.id = page.id order by d.id desc`,
  };
}
