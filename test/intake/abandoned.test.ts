import { afterAll, expect, it } from "vitest";
import type { Slot } from "../../src/domain/slot.ts";
import type { Milestone, ReceiveResult } from "../../src/intake/intake.ts";
import type { WireFormat } from "../../src/providers/adapter.ts";
import type { Claim } from "../../src/store/deliveries/claims.ts";
import { claimDeliveries } from "../../src/store/deliveries/deliveries.ts";
import { numberedEvent } from "../fixtures/numbered-event.ts";
import { eventually } from "../support/eventually.ts";
import { freshRuntime } from "../support/fresh-runtime.ts";
import { SECRETS } from "../support/variables.ts";

/** As many as the intake has under way at once. */
const GROUPS = 4;

let stalled = 0;
let stallsAt: Milestone = "effects written";
let { promise: released, resolve: release } = Promise.withResolvers<void>();
const { test, runtime } = freshRuntime({
  users: 20,
  variables: { PROVIDER_B_ADAPTER: "lemon-squeezy", PROVIDER_B_WEBHOOK_SECRET: SECRETS["provider-a"] },
  reached: async (milestone) => {
    if (milestone !== stallsAt) return;
    stalled += 1;
    await released;
  },
});
afterAll(() => release());

function receive(slot: Slot, format: WireFormat, n: number): Promise<ReceiveResult> {
  const { rawBody, headers } = numberedEvent("abandoned", n, 20, format) as {
    rawBody: Buffer;
    headers: Record<string, string>;
  };
  return runtime.intake.receive(slot, { rawBody, header: (name) => headers[name] });
}

it("does not apply an event later that it refused as too slow", {
  timeout: 60_000,
}, async () => {
  const responses = [];
  for (let n = 0; n < GROUPS; n += 1) {
    responses.push(receive("provider-a", "stripe", n));
    await eventually(async () => stalled, n + 1);
  }
  expect(await receive("provider-a", "stripe", GROUPS)).toEqual({
    outcome: "unavailable",
    cause: "too slow",
  });
  release();
  await Promise.all(responses);
  await runtime.intake.idle();
  expect(
    await test.rows("select event_id from webhook_delivery where event_id like $1", [`abandoned-${GROUPS}%`]),
  ).toEqual([]);
});

it("ingests an event of a provider with few redeliveries although it was refused as too slow", {
  timeout: 60_000,
}, async () => {
  ({ promise: released, resolve: release } = Promise.withResolvers<void>());
  [stalled, stallsAt] = [0, "claimed"];
  // Claims are taken one group at a time: the second waits for the first.
  const first = receive("provider-b", "lemon-squeezy", 1);
  await eventually(async () => stalled, 1);
  expect(await receive("provider-b", "lemon-squeezy", 2)).toEqual({
    outcome: "unavailable",
    cause: "too slow",
  });
  release();
  await first;
  await runtime.intake.idle();
  expect(
    await test.rows(
      "select count(*)::int, min(status::text) as status from webhook_delivery where format = 'lemon-squeezy'",
    ),
  ).toEqual([{ count: 2, status: "successful" }]);
});

it("releases a claim before its lease runs out, so that waiting uses up no attempt", async () => {
  const delivery = {
    provider: "provider-a" as const,
    eventId: "waiting",
    eventType: "customer.subscription.created",
    format: "stripe",
    occurredAtMicros: null,
    source: "delivery" as const,
    payload: Buffer.from("{}"),
  };
  const [claimed] = await claimDeliveries(runtime.intake.database, [delivery], runtime.intake.leaseSeconds);
  const outcome = await runtime.intake.attempts.submit({
    claim: claimed?.claim as Claim,
    slot: "provider-a",
    source: "delivery",
    reading: { failure: { reason: "defect" } },
    startedAtMs: performance.now() - runtime.intake.leaseSeconds * 600,
    bytes: 1,
  });
  expect(outcome).toEqual({ outcome: "unavailable" });
  await runtime.intake.idle();
  expect(
    await test.rows(
      "select status, released_claims, last_reason from webhook_delivery where event_id = 'waiting'",
    ),
  ).toEqual([{ status: "pending", released_claims: 1, last_reason: null }]);
});
