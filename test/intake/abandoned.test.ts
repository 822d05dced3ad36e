import { afterAll, expect, it } from "vitest";
import type { Claim } from "../../src/store/deliveries/claims.ts";
import { claimDeliveries } from "../../src/store/deliveries/deliveries.ts";
import { numberedEvent } from "../fixtures/numbered-event.ts";
import { eventually } from "../support/eventually.ts";
import { freshRuntime } from "../support/fresh-runtime.ts";

/** As many as the intake has under way at once. */
const GROUPS = 4;

let stalled = 0;
let release: () => void = () => {};
const released = new Promise<void>((resolve) => {
  release = resolve;
});
const { test, runtime } = freshRuntime({
  users: 20,
  reached: async (milestone) => {
    if (milestone !== "effects written") return;
    stalled += 1;
    await released;
  },
});
afterAll(() => release());

it("does not apply an event later that it refused as too slow", {
  timeout: 60_000,
}, async () => {
  const receive = (n: number) => {
    const { rawBody, headers } = numberedEvent("abandoned", n) as {
      rawBody: Buffer;
      headers: Record<string, string>;
    };
    return runtime.intake.receive("provider-a", { rawBody, header: (name) => headers[name] });
  };
  const responses = [];
  for (let n = 0; n < GROUPS; n += 1) {
    responses.push(receive(n));
    await eventually(async () => stalled, n + 1);
  }
  expect(await receive(GROUPS)).toEqual({ outcome: "unavailable", cause: "too slow" });
  release();
  await Promise.all(responses);
  await runtime.intake.idle();
  expect(
    await test.rows("select event_id from webhook_delivery where event_id like $1", [`abandoned-${GROUPS}%`]),
  ).toEqual([]);
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
