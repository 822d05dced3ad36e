import { expect } from "vitest";
import { seatsOf } from "../fixtures/numbered-event.ts";
import { eventually } from "./eventually.ts";

type Rows = { rows<Row>(text: string, values?: readonly unknown[]): Promise<Row[]> };

/**
 * Waits until no delivery of the run is open, then expects each of its events to have been applied exactly
 * once.
 */
export async function expectEachAppliedOnce(test: Rows, run: string, count: number): Promise<void> {
  await eventually(
    () =>
      test.rows(
        "select status, count(*)::int as count from webhook_delivery where event_id like $1 group by 1",
        [`${run}-%`],
      ),
    [{ status: "successful", count }],
  );

  const applied = await test.rows<{ event_id: string; applied: number }>(
    `select d.event_id, count(*) filter (where a.outcome = 'successful')::int as applied
     from webhook_delivery d left join webhook_attempts a on a.delivery_id = d.id
     where d.event_id like $1 group by 1`,
    [`${run}-%`],
  );
  expect(applied.filter((row) => row.applied !== 1)).toEqual([]);

  const subscriptions = await test.rows<{ name: string; seats: number }>(
    "select provider_subscription_id as name, seats from subscription where provider_subscription_id like $1",
    [`${run}-%`],
  );
  expect(subscriptions).toHaveLength(count);
  for (const { name, seats } of subscriptions) expect(seats).toBe(seatsOf(Number(name.split("-").at(-1))));
}
