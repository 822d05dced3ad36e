import { beforeEach, expect, it } from "vitest";
import type { ClaimedEvent } from "../../../src/intake/claimed-event.ts";
import { recordDefect } from "../../../src/intake/claims/apply.ts";
import { applySingly } from "../../../src/intake/claims/apply-singly.ts";
import { claimDeliveries } from "../../../src/store/deliveries/deliveries.ts";
import { numberedEvent } from "../../fixtures/numbered-event.ts";
import { freshRuntime } from "../../support/fresh-runtime.ts";

const { test, runtime } = freshRuntime({ users: 3 });
beforeEach(() => test.rows("truncate webhook_delivery, webhook_attempt, subscription cascade"));

/** So long that a stalled machine makes no difference. */
const LEASE_SECONDS = 3_600;

/** Claims the event of a new subscription, as if it had been waiting for this share of its lease. */
async function claimed(n: number, waitedShare: number): Promise<ClaimedEvent> {
  const { rawBody } = numberedEvent("waiting", n);
  const eventType = "customer.subscription.created";
  const delivery = {
    provider: "provider-a" as const,
    eventId: `waiting-${n}`,
    eventType,
    format: "stripe",
    occurredAtMicros: null,
    source: "delivery" as const,
    payload: rawBody,
  };
  const [result] = await claimDeliveries(runtime.intake.database, [delivery], LEASE_SECONDS);
  return {
    claim: result?.claim as ClaimedEvent["claim"],
    slot: "provider-a",
    source: "delivery",
    reading: {
      event: runtime.intake.adapters.of("stripe").interpret(eventType, JSON.parse(rawBody.toString())),
    },
    startedAtMs: performance.now() - waitedShare * LEASE_SECONDS * 1000,
    bytes: rawBody.length,
  };
}

it("releases an event that has waited for half its lease, so that it never counts as a crash", async () => {
  const group = [await claimed(0, 0.501), await claimed(1, 0.45)];
  const outcomes = await applySingly({ ...runtime.intake, leaseSeconds: LEASE_SECONDS }, group, () => {});
  expect(outcomes).toEqual([{ outcome: "unavailable" }, { outcome: "applied" }]);
  expect(
    await test.rows(
      `select status, coalesce(released_claims, 0) as released, lease_until < clock_timestamp() + interval '1 minute' as "isFreeSoon"
       from webhook_delivery order by event_id`,
    ),
  ).toEqual([
    { status: "pending", released: 1, isFreeSoon: true },
    { status: "successful", released: 0, isFreeSoon: null },
  ]);
  expect(await test.rows("select provider_subscription_id as id from subscription")).toEqual([
    { id: "waiting-1" },
  ]);
});

it("releases what is behind a released event of its subscription too, so that their order stays", async () => {
  const ahead = await claimed(0, 0.501);
  const behind = { ...(await claimed(1, 0)), reading: ahead.reading };
  const other = await claimed(2, 0);
  const intake = { ...runtime.intake, leaseSeconds: LEASE_SECONDS };
  const outcomes = await Promise.all(await applySingly(intake, [ahead, behind, other], () => {}));
  expect(outcomes.map(({ outcome }) => outcome)).toEqual(["unavailable", "unavailable", "applied"]);
  expect(await test.rows("select provider_subscription_id as id from subscription")).toEqual([
    { id: "waiting-2" },
  ]);
});

it("records no failure of an event that another process has taken over and applied meanwhile", async () => {
  const event = await claimed(2, 0);
  await test.rows("update webhook_delivery set status = 'successful', claim_no = 2, lease_until = null");
  const before = await test.rows("select * from webhook_delivery");
  expect(await recordDefect(runtime.intake, event, new Error("defect"))).toEqual({ outcome: "lost" });
  expect(await test.rows("select * from webhook_delivery")).toEqual(before);
  expect(await test.rows("select from webhook_attempt")).toEqual([]);
});
