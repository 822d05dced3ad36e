import { expect, it } from "vitest";
import { type Attempt, logAttempts } from "../../../src/store/deliveries/attempts.ts";
import { attemptsOf } from "../../../src/store/deliveries/delivery-detail.ts";
import { historyOf, lastEventId } from "../../../src/store/subscriptions/subscription-history.ts";
import { createSubscription } from "../../support/subscriptions.ts";
import { testDatabase } from "../../support/test-database.ts";

const test = testDatabase(0);

it("shows the first attempt once, as its delivery has it, even where it is stored twice", async () => {
  const id = await delivery("stored-twice", { firstOutcome: "successful" });
  await attempt(id, 1, "failed");
  await attempt(id, 2, "failed");
  expect(await shownAttempts(id)).toEqual([
    { claim_no: 1, source: "delivery", outcome: "successful", reason: null, duration_ms: 12 },
    { claim_no: 2, source: "retry", outcome: "failed", reason: "lease expired", duration_ms: 30 },
  ]);
});

it("shows the first attempt of a delivery that was claimed before it was applied", async () => {
  const id = await delivery("claimed-first", { firstOutcome: null });
  await attempt(id, 1, "failed");
  expect(await shownAttempts(id)).toEqual([
    { claim_no: 1, source: "retry", outcome: "failed", reason: "lease expired", duration_ms: 30 },
  ]);
});

it("shows when an attempt began, which is logged once it has ended", async () => {
  const id = await delivery("retried", { firstOutcome: null });
  const claim = { id, provider: "provider-a", eventId: "retried", claimNo: 2, attemptNo: 2 } as const;
  const now = async () => Number((await test.rows<{ now: Date }>("select clock_timestamp() as now"))[0]?.now);
  const before = await now();
  await logAttempts(test.database, [
    { ...claim, heldAs: "pending", source: "retry", failure: null, durationMs: 60_000, changed: null },
  ]);
  const [logged] = await attemptsOf(test.database, id);
  const endedAt = Number(logged?.startedAt) + 60_000;
  expect(endedAt).toBeGreaterThanOrEqual(before);
  expect(endedAt).toBeLessThanOrEqual(await now());
});

it("shows what attempts changed in a subscription's history, newest first", async () => {
  const subscriptionId = await createSubscription(test, null);
  const attempts: Attempt[] = [];
  for (const seats of [2, 3]) {
    const eventId = `changed to ${seats}`;
    const id = await delivery(eventId, { firstOutcome: null });
    attempts.push({
      ...{ id, provider: "provider-a", eventId, claimNo: 2, attemptNo: 2, heldAs: "pending" },
      ...{ source: "retry", failure: null, durationMs: 1 },
      changed: { subscriptionId, changes: { seats: [seats - 1, seats] } },
    });
  }
  await logAttempts(test.database, attempts);
  const history = await historyOf(test.database, subscriptionId, { before: null, limit: 10 });
  expect(history.map(({ changes }) => changes)).toEqual([{ seats: [2, 3] }, { seats: [1, 2] }]);
  expect(await lastEventId(test.database, subscriptionId)).toBe("changed to 3");
});

async function delivery(
  eventId: string,
  { firstOutcome }: { firstOutcome: "successful" | null },
): Promise<string> {
  const [row] = await test.rows<{ id: string }>(
    `insert into webhook_delivery (provider, event_id, event_type, format, status, claim_source, payload, first_source,
       first_outcome, first_duration_ms)
     values ('provider-a', $1, 'x', 'stripe', 'successful', 'delivery', '{}',
       case when $2::text is not null then 'delivery' end, $2, case when $2::text is not null then 12 end)
     returning id::text`,
    [eventId, firstOutcome],
  );
  return row?.id as string;
}

function attempt(id: string, claimNo: number, outcome: "successful" | "failed") {
  return test.rows(
    `insert into webhook_attempt (delivery_id, claim_no, source, outcome, reason, started_at, duration_ms)
     values ($1, $2, 'retry', $3, 'lease expired', clock_timestamp(), 30)`,
    [id, claimNo, outcome],
  );
}

function shownAttempts(id: string) {
  return test.rows(
    `select claim_no, source, outcome, reason, duration_ms from webhook_attempts where delivery_id = $1
     order by claim_no`,
    [id],
  );
}
