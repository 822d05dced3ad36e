import { beforeAll, expect, it } from "vitest";
import { insertEndpoint } from "../../../src/store/outbound/event-endpoints.ts";
import { replayDeliveries } from "../../../src/store/outbound/replay-outbound-deliveries.ts";
import { INTERACTIVE_LIMITS, inTransaction } from "../../../src/store/transaction.ts";
import { testDatabase } from "../../support/test-database.ts";

const test = testDatabase(0);
let endpointId: string;
beforeAll(async () => {
  const endpoint = { url: "https://example.com/hook", types: ["user.updated"], description: null };
  endpointId = (await insertEndpoint(test.database, { ...endpoint, secret: "whsec_x", createdBy: null })).id;
  // Events exist at positions 1 to 10, except 9.
  await test.rows(
    `insert into outbound_event (type, subject, data, position, id)
     select 'user.updated', 's', '{}', n, 'evt_' || n from generate_series(1, 10) n where n <> 9`,
  );
});

type Stored = { event: string; subject: string; status: string; position: number | null; isDue: boolean };

/** In this order, with an old deadline. */
async function store(...deliveries: Stored[]): Promise<Map<string, string>> {
  await test.rows("delete from outbound_delivery");
  const ids = new Map<string, string>();
  for (const { event, subject, status, position, isDue } of deliveries) {
    const [row] = await test.rows<{ id: string }>(
      `insert into outbound_delivery (endpoint_id, event_id, event_type, position, subject, status, claim_no,
         next_attempt_at, give_up_at)
       values ($1, $2, 'user.updated', $3, $4, $5, 3, case when $6::boolean then now() + interval '1 hour' end,
         now() - interval '1 day')
       returning id::text`,
      [endpointId, event, position, subject, status, isDue],
    );
    ids.set(event, row?.id as string);
  }
  return ids;
}

const replay = (ids: (string | undefined)[]) =>
  inTransaction(test.database, INTERACTIVE_LIMITS, async (transaction) => {
    const replayed = replayDeliveries(transaction, endpointId, ids as string[]);
    await transaction.commitAfter([replayed]);
    return replayed;
  });

const states = () =>
  test.rows(
    `select event_id as event, status, claim_no as claim, next_attempt_at is not null as "isDue",
       give_up_at > now() + interval '4 days' as "isRenewed"
     from outbound_delivery order by id`,
  );

const waiting = { status: "pending", isDue: false };

it("sends in the old order, before what is pending of the same subject, and leaves other subjects alone", async () => {
  const ids = await store(
    { event: "a0", subject: "a", status: "delivered", position: 1, isDue: false },
    { event: "a1", subject: "a", status: "delivered", position: 2, isDue: false },
    { event: "a2", subject: "a", status: "failed", position: 3, isDue: false },
    { event: "b1", subject: "b", status: "delivered", position: 4, isDue: false },
    { event: "a3", subject: "a", status: "pending", position: 5, isDue: true },
    { event: "a4", subject: "a", status: "pending", position: 6, isDue: false },
    { event: "b2", subject: "b", status: "pending", position: 7, isDue: true },
    { event: "b3", subject: "b", status: "pending", position: 8, isDue: false },
  );
  expect(await replay([ids.get("a2"), ids.get("a1")])).toBe(2);
  // A late result of an attempt before must not count for the replay: hence another claim.
  expect(await states()).toEqual([
    { event: "a0", status: "delivered", isDue: false, claim: 3, isRenewed: false },
    { event: "a1", status: "pending", isDue: true, claim: 4, isRenewed: true },
    { event: "a2", ...waiting, claim: 4, isRenewed: true },
    { event: "b1", status: "delivered", isDue: false, claim: 3, isRenewed: false },
    { event: "a3", ...waiting, claim: 3, isRenewed: false },
    { event: "a4", ...waiting, claim: 3, isRenewed: false },
    { event: "b2", status: "pending", isDue: true, claim: 3, isRenewed: false },
    { event: "b3", ...waiting, claim: 3, isRenewed: false },
  ]);
});

it("waits for an earlier one of the subject that is pending", async () => {
  const ids = await store(
    { event: "a1", subject: "a", status: "pending", position: 1, isDue: true },
    { event: "a2", subject: "a", status: "failed", position: 2, isDue: false },
  );
  expect(await replay([ids.get("a2")])).toBe(1);
  expect(await states()).toMatchObject([
    { event: "a1", isDue: true },
    { event: "a2", ...waiting },
  ]);
});

it("skips tests, pending deliveries and events that are no longer kept", async () => {
  const ids = await store(
    { event: "test", subject: "test evt", status: "delivered", position: null, isDue: false },
    { event: "gone", subject: "c", status: "failed", position: 9, isDue: false },
    { event: "pending", subject: "d", status: "pending", position: 10, isDue: true },
  );
  const before = await states();
  expect(await replay([...ids.values()])).toBe(0);
  expect(await states()).toEqual(before);
});
