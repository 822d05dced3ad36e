import type { DeliveryStatus } from "../../domain/deliveries/delivery.ts";
import { SLOTS, type Slot } from "../../domain/slot.ts";
import type { Queryable, Statement } from "../database.ts";

const HOURS = 24;

/** The maximum sample: no query may grow with the history, nor with a day's traffic. */
const SAMPLE_SIZE = 20_000;

export type HourOfDeliveries = { startsAt: Date } & Record<DeliveryStatus, number>;

// Ids follow the time of receipt except when the clock is set, so the window's start is found by bisection.
// Rows on the wrong side of such a step are not counted.
const WINDOW: Statement = {
  name: "delivery_window",
  runsAlone: true,
  text: `
with recursive hour as materialized (
  select date_trunc('hour', clock_timestamp(), 'UTC') as latest,
    date_trunc('hour', clock_timestamp(), 'UTC') - ${HOURS - 1} * interval '1 hour' as first
), halving (older, newer) as (
  select 0::bigint, coalesce(max(id), 0) + 1 from webhook_delivery
  union all
  select case when probe.received_at < hour.first then probe.id else older end,
    case when probe.received_at < hour.first then newer else (older + newer) / 2 end
  from halving cross join hour left join lateral (
    select id, received_at from webhook_delivery where id >= (older + newer) / 2 and id < newer order by id limit 1
  ) probe on true
  where newer - older > 1
)
select extract(epoch from (select latest from hour))::float8 * 1000 as "latestMs", first::float8, last::float8, (
  select count(*) from (select from webhook_delivery where id between first and last order by id limit ${SAMPLE_SIZE + 1}) counted
)::int as size
from (select min(newer) as first, max(newer) - 1 as last from halving) found`,
};

// Open work is counted exactly, through partial indexes: a sample says nothing about a few failures.
function counts(name: string, rangeSql: string): Statement {
  return {
    name,
    runsAlone: true,
    text: `
with open as materialized (
  select provider, status, received_at from webhook_delivery where status = 'failed'
  union all
  select provider, status, received_at from webhook_delivery where status = 'pending'
), counted as (
  select status, received_at, 1 as weight from open where provider = any ($4::text[])
  union all
  select status, received_at, $3::int from (${rangeSql}) scanned
  where status = 'successful' and provider = any ($4::text[])
), hour as (
  select date_bin('1 hour', received_at, to_timestamp($5::float8 / 1000)) as starts_at, status, sum(weight) as count
  from counted
  where received_at >= to_timestamp($5::float8 / 1000) - ${HOURS - 1} * interval '1 hour'
  group by 1, 2
)
select least(extract(epoch from starts_at)::float8 * 1000, $5::float8) as "startsAtMs", status,
  sum(count)::float8 as count
from hour group by 1, 2`,
  };
}

const COUNT_ALL = counts(
  "count_deliveries",
  "select provider, status, received_at from webhook_delivery where id between $1::bigint and $2::bigint",
);

const COUNT_SAMPLE = counts(
  "count_deliveries_in_sample",
  `select d.provider, d.status, d.received_at
  from generate_series($1::bigint, $2::bigint, $3::bigint) as asked (id) cross join lateral (
    select provider, status, received_at from webhook_delivery where id = asked.id offset 0
  ) d`,
);

/**
 * The deliveries of the current hour and the 23 before, by hour of UTC and by what they are now. Of a busy
 * day the successful ones are estimated from a sample that is spread over it evenly.
 * @param provider `null`: of all slots
 */
export async function countDeliveries(
  database: Queryable,
  { provider }: { provider: Slot | null },
): Promise<{ hours: HourOfDeliveries[]; isEstimate: boolean }> {
  type Window = { latestMs: number; first: number; last: number; size: number };
  const [window] = await database.run<Window>(WINDOW);
  const { latestMs, first, last, size } = window as Window;
  const isEstimate = size > SAMPLE_SIZE;
  const step = isEstimate ? Math.ceil((last - first + 1) / SAMPLE_SIZE) : 1;
  const slots = provider === null ? SLOTS : [provider];
  const rows = await database.run<{ startsAtMs: number; status: DeliveryStatus; count: number }>(
    isEstimate ? COUNT_SAMPLE : COUNT_ALL,
    [first, last, step, slots, latestMs],
  );
  const hours = Array.from({ length: HOURS }, (_, n) => {
    const startsAtMs = latestMs - (HOURS - 1 - n) * 3_600_000;
    const count = (status: DeliveryStatus) =>
      rows.find((row) => row.startsAtMs === startsAtMs && row.status === status)?.count ?? 0;
    return {
      startsAt: new Date(startsAtMs),
      successful: count("successful"),
      failed: count("failed"),
      pending: count("pending"),
    };
  });
  return { hours, isEstimate };
}
