import { randomBytes } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { MAX_ATTEMPTS } from "../../../src/domain/deliveries/delivery.ts";
import type { Queryable } from "../../../src/store/database.ts";
import { type Claim, fenceClaims, releaseClaims } from "../../../src/store/deliveries/claims.ts";
import { claimDeliveries } from "../../../src/store/deliveries/deliveries.ts";
import { attemptsOf } from "../../../src/store/deliveries/delivery-detail.ts";
import {
  giveUpStuck,
  reclaimDue,
  reclaimOne,
  reclaimSuccessful,
  type StoredDelivery,
} from "../../../src/store/deliveries/reclaims.ts";
import { eventually } from "../../support/eventually.ts";
import { testDatabase } from "../../support/test-database.ts";

const test = testDatabase(0);
const BATCH = { leaseSeconds: 30, limit: 10, maxBytes: 1_000_000 };
beforeEach(() => test.rows("truncate webhook_delivery, webhook_attempt"));

describe("a claim", () => {
  const claimed = async (status = "pending"): Promise<Claim> => {
    const [row] = await test.rows<{ id: string }>(
      `insert into webhook_delivery (provider, event_id, event_type, format, status, claim_source, claim_no, lease_until, payload)
       values ('provider-a', 'evt_1', 'x', 'stripe', $1, 'retry', 2, clock_timestamp() + interval '1 hour', '{}')
       returning id::text`,
      [status],
    );
    return {
      id: row?.id as string,
      provider: "provider-a",
      eventId: "evt_1",
      attemptNo: 1,
      heldAs: "pending",
      claimNo: 2,
    };
  };
  const stored = () => test.rows("select * from webhook_delivery");

  // A database that lost its latest sequence values in a crash hands out an id again.
  it.each<[string, Partial<Claim>]>([
    ["has been taken over by another process", { claimNo: 1 }],
    ["was of another event with the same id", { eventId: "evt_lost" }],
    ["was of an event of another slot with the same id", { provider: "provider-b" }],
  ])("that %s changes nothing, when its work is done or given up", async (_, difference) => {
    const stale = { ...(await claimed()), ...difference };
    const before = await stored();
    expect(await fenceClaims(test.database, [stale])).toEqual(new Set());
    await releaseClaims(test.database, [stale]);
    expect(await stored()).toEqual(before);
  });

  it("of a delivery that has failed meanwhile changes nothing", async () => {
    const claim = await claimed("failed");
    const before = await stored();
    expect(await fenceClaims(test.database, [claim])).toEqual(new Set());
    await releaseClaims(test.database, [claim]);
    expect(await stored()).toEqual(before);
  });

  it("holds beside a stale one of its delivery, which may still wait in the same process", async () => {
    const current = await claimed();
    const stale = { ...current, claimNo: 1 };
    expect([...(await fenceClaims(test.database, [stale, current]))]).toEqual([current]);
  });

  it("that is released may be taken over after a second", async () => {
    const claim = await claimed();
    const now = async () => (await test.rows<{ now: Date }>("select clock_timestamp() as now"))[0]?.now;
    const before = Number(await now());
    await releaseClaims(test.database, [claim]);
    const after = Number(await now());
    const [{ lease_until }] = (await stored()) as [{ lease_until: Date }];
    expect(lease_until.getTime() - 1_000).toBeGreaterThanOrEqual(before);
    expect(lease_until.getTime() - 1_000).toBeLessThanOrEqual(after);
  });
});

it("counts no attempt for claims that a database time-out released, and gives up after twelve others", async () => {
  await test.rows(
    `insert into webhook_delivery (provider, event_id, event_type, format, status, claim_source, payload, next_attempt_at)
     values ('provider-a', 'evt_slow', 'x', 'stripe', 'failed', 'delivery', '{}', clock_timestamp())`,
  );
  for (let claimNo = 2; claimNo <= 2 + MAX_ATTEMPTS; claimNo += 1) {
    await expireLeases();
    const claim = await claimAgain();
    expect(claim).toMatchObject({ claimNo, attemptNo: 2 });
    await releaseClaims(test.database, [claim]);
    // Its process may not know whether it was released.
    await releaseClaims(test.database, [claim]);
  }
  expect(await test.rows("select from webhook_attempt")).toEqual([]);
  for (let attemptNo = 2; attemptNo <= MAX_ATTEMPTS; attemptNo += 1) {
    await expireLeases();
    expect(await giveUpStuck(test.database)).toEqual([]);
    expect(await claimAgain()).toMatchObject({ attemptNo });
  }
  await expireLeases();
  expect(await reclaimDue(test.database, BATCH)).toEqual([]);
  expect(await giveUpStuck(test.database)).toHaveLength(1);
  expect(
    await test.rows(
      'select status, last_reason, lease_until, completed_at <= clock_timestamp() as "isCompleted" from webhook_delivery',
    ),
  ).toEqual([{ status: "failed", last_reason: "lease_expired", lease_until: null, isCompleted: true }]);
});

it("takes over a released claim beyond the twelfth attempt, such as a replay's, and does not give it up", async () => {
  await test.rows(
    `insert into webhook_delivery (provider, event_id, event_type, format, status, claim_source, claim_no, payload, next_attempt_at)
     values ('provider-a', 'evt_replayed', 'x', 'stripe', 'failed', 'delivery', $1, '{}', clock_timestamp())`,
    [MAX_ATTEMPTS + 1],
  );
  await releaseClaims(test.database, [await claimAgain()]);
  await expireLeases();
  expect(await giveUpStuck(test.database)).toEqual([]);
  expect(await claimAgain()).toMatchObject({ claimNo: MAX_ATTEMPTS + 3 });
  await expireLeases();
  expect(await giveUpStuck(test.database)).toHaveLength(1);
});

it("waits for no delivery that another transaction has locked", async () => {
  await test.rows(
    `insert into webhook_delivery (provider, event_id, event_type, format, status, claim_source, claim_no, payload,
       completed_at, next_attempt_at, lease_until)
     select 'provider-a', kind || n, 'x', 'stripe', case when ahead is null then 'pending' else 'failed' end, 'delivery',
       case kind when 'given up' then $1::int else 1 end, '{}',
       now() + ahead, now() + ahead, case when ahead is null then now() end
     from (values ('due', interval '0'), ('failed ahead', interval '1 hour'), ('stuck', null), ('given up', null))
       as kinds (kind, ahead), generate_series(1, 2) n`,
    [MAX_ATTEMPTS],
  );
  const connection = await test.database.connection();
  await connection.script("begin; select from webhook_delivery where event_id like '%1' for update");
  const claimed = await reclaimDue(test.database, BATCH);
  expect(claimed.map(({ claim }) => claim.eventId).sort()).toEqual(["due2", "failed ahead2", "stuck2"]);
  expect(await giveUpStuck(test.database)).toHaveLength(1);
  await connection.script("rollback");
  connection.release({ healthy: true });
});

describe("a redelivery", () => {
  const redelivered = (...eventIds: string[]) =>
    claimDeliveries(
      test.database,
      eventIds.map((eventId) => ({
        provider: "provider-a",
        eventId,
        eventType: "x",
        format: "stripe",
        occurredAtMicros: null,
        source: "delivery",
        payload: Buffer.from("{}"),
      })),
      30,
    );

  it("takes over what has failed or whose lease is over, and records only a claim that never ended", async () => {
    await test.rows(
      `insert into webhook_delivery (provider, event_id, event_type, format, status, claim_source, claim_no, payload,
         lease_until, released_claims, released_claim_no, next_attempt_at)
       select 'provider-a', id, 'x', 'stripe', case id when 'failed' then 'failed' else 'pending' end, 'retry', 2, '{}',
         case when id <> 'failed' then now() end, case id when 'released' then 1 end,
         case id when 'released' then 2 end, case id when 'failed' then now() end
       from unnest('{crashed,failed,released}'::text[]) id`,
    );
    const claimed = await redelivered("crashed", "failed", "released");
    expect(claimed.map(({ claim }) => claim?.attemptNo)).toEqual([3, 3, 2]);
    expect(
      await test.rows("select distinct status, claim_no, next_attempt_at from webhook_delivery"),
    ).toEqual([{ status: "pending", claim_no: 3, next_attempt_at: null }]);
    expect(
      await test.rows(
        `select d.event_id as event, a.claim_no as claim, a.source, a.reason_id as reason
         from webhook_attempt a join webhook_delivery d on d.id = a.delivery_id`,
      ),
    ).toEqual([{ event: "crashed", claim: 2, source: "retry", reason: "lease_expired" }]);
  });

  it("leaves its delivery to the process that claims it at the same moment", async () => {
    const connection = await test.database.connection();
    await connection.script(
      `begin; insert into webhook_delivery (provider, event_id, event_type, format, status, claim_source, lease_until, payload)
       values ('provider-a', 'at once', 'x', 'stripe', 'pending', 'delivery', now() + interval '1 hour', '{}')`,
    );
    const claiming = redelivered("at once");
    await eventually(waitingForLocks, [{}]);
    await connection.script("commit");
    connection.release({ healthy: true });
    expect(await claiming).toMatchObject([{ claim: null }]);
    expect(await test.rows("select claim_no from webhook_delivery")).toEqual([{ claim_no: 1 }]);
  });
});

describe("of two replays at the same moment", () => {
  const delivered = async (status: string): Promise<string> => {
    const [row] = await test.rows<{ id: string }>(
      `insert into webhook_delivery (provider, event_id, event_type, format, status, claim_source, claimed_at, payload,
         first_source, first_outcome, first_duration_ms)
       values ('provider-a', 'replayed twice', 'x', 'stripe', $1, 'delivery', now() - interval '1 day', '{}',
         'delivery', $1, 1)
       returning id::text`,
      [status],
    );
    return row?.id as string;
  };
  /** What the second gets, which waits until the first has committed its claim. */
  async function claimedSecond(claim: (database: Queryable) => Promise<StoredDelivery | null>) {
    const first = await test.database.connection();
    await first.script("begin");
    expect(await claim(first)).toMatchObject({ claim: { claimNo: 2 } });
    const second = claim(test.database);
    await eventually(waitingForLocks, [{}]);
    await first.script("commit");
    first.release({ healthy: true });
    return second;
  }

  it("only the first gets a failed delivery", async () => {
    const id = await delivered("failed");
    expect(await claimedSecond((database) => reclaimOne(database, id, BATCH))).toBeNull();
    expect(await test.rows("select claim_no from webhook_delivery")).toEqual([{ claim_no: 2 }]);
  });

  it("the second takes a successful delivery over, and the log says of the first that it never reported", async () => {
    const id = await delivered("successful");
    const second = await claimedSecond((database) => reclaimSuccessful(database, id));
    expect(second).toMatchObject({ claim: { claimNo: 3 } });
    const attempts = await attemptsOf(test.database, id);
    expect(attempts).toMatchObject([
      { source: "delivery", outcome: "successful" },
      { source: "replay", reason: "not_reported" },
    ]);
    // Since its own claim, not since the event was received.
    expect(attempts[1]?.durationMs).toBeLessThan(60 * 60 * 1000);
  });
});

describe("due deliveries with large bodies", () => {
  /** Failed and stuck ones in turn, each due before the next. */
  async function due(bodies: readonly string[]): Promise<void> {
    for (const [index, body] of bodies.entries()) {
      await test.rows(
        `insert into webhook_delivery (provider, event_id, event_type, format, status, claim_source, payload, next_attempt_at, lease_until)
         values ('provider-a', $1, 'x', 'stripe', $2, 'delivery', $3::text::json,
           case $2 when 'failed' then now() - $4::float8 * interval '1 second' end,
           case $2 when 'pending' then now() - $4::float8 * interval '1 second' end)`,
        [`e${index}`, index % 2 === 0 ? "failed" : "pending", JSON.stringify(body), 1_000 - index],
      );
    }
  }
  const claimedNext = async (batch: Partial<typeof BATCH> = {}) => {
    const claimed = await reclaimDue(test.database, { ...BATCH, ...batch });
    return claimed.map(({ claim }) => claim.eventId);
  };
  /** Base64, which PostgreSQL does not compress. */
  const bytes = (count: number) => randomBytes(count * 0.75).toString("base64");

  it("are claimed a few at a time, the oldest first, and one that is larger than a batch alone", async () => {
    await due([bytes(400_000), bytes(400_000), bytes(400_000), bytes(1_200_000), bytes(100), bytes(100)]);
    expect(await claimedNext()).toEqual(["e0", "e1"]);
    expect(await claimedNext()).toEqual(["e2"]);
    expect(await claimedNext()).toEqual(["e3"]);
    expect(await claimedNext()).toEqual(["e4", "e5"]);
  });

  it("are claimed a few at a time where PostgreSQL has compressed them", async () => {
    await due(Array.from({ length: 10 }, () => "x".repeat(900_000)));
    expect(await claimedNext()).toHaveLength(6);
  });

  it("are claimed up to the limit, the oldest first, where bodies are small or were dropped", async () => {
    const ids = Array.from({ length: 30 }, (_, n) => `e${n}`);
    await due(ids.map(() => bytes(1_000)));
    await test.rows("update webhook_delivery set payload = null where event_id in ('e0', 'e1')");
    expect(await claimedNext()).toEqual(ids.slice(0, 20));
    expect(await claimedNext()).toEqual(ids.slice(20));
  });
});

function waitingForLocks() {
  return test.rows(
    "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
  );
}

async function claimAgain(): Promise<Claim> {
  const [stored] = await reclaimDue(test.database, BATCH);
  return stored?.claim as Claim;
}

function expireLeases() {
  return test.rows(
    "update webhook_delivery set lease_until = clock_timestamp() - interval '1 second' where status = 'pending'",
  );
}
