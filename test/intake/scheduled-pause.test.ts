import { expect, it } from "vitest";
import { subscriptionAccessOfUser } from "../../src/store/subscriptions/subscription-access.ts";
import { loadFixture, signedDelivery } from "../fixtures/fixture.ts";
import { freshRuntime } from "../support/fresh-runtime.ts";
import { SECRETS } from "../support/variables.ts";

const { test, runtime } = freshRuntime({ users: 2, variables: { PROVIDER_A_ADAPTER: "paddle" } });

let count = 0;

async function receive(scheduledChange: object | null): Promise<void> {
  count += 1;
  const { body } = loadFixture("paddle", "customer.subscription.updated", {
    userId: "user_1",
    planId: "pro",
    subscriptionId: "sub_1",
    status: "active",
    eventId: `evt_${count}`,
    occurredAt: new Date(Date.UTC(2026, 0, 1, 0, count)),
  });
  (body.data as Record<string, unknown>).scheduled_change = scheduledChange;
  const { rawBody, headers } = signedDelivery("paddle", body, {
    secret: SECRETS["provider-a"],
    nowSeconds: Math.floor(Date.now() / 1000),
  });
  const result = await runtime.intake.receive("provider-a", { rawBody, header: (name) => headers[name] });
  expect(result).toMatchObject({ outcome: "applied" });
}

it("is known until it is withdrawn or replaced by a cancellation", async () => {
  const pauses = async () => {
    const subscriptions = await subscriptionAccessOfUser(test.database, "user_1");
    return subscriptions.map(({ pausesAtPeriodEnd }) => pausesAtPeriodEnd);
  };
  const at = { effective_at: "2026-02-01T00:00:00Z", resume_at: null };
  const changes = [
    null,
    { action: "pause", ...at },
    null,
    { action: "pause", ...at },
    { action: "cancel", ...at },
  ];
  const known: boolean[][] = [];
  for (const change of changes) {
    await receive(change);
    known.push(await pauses());
  }
  expect(known).toEqual([[false], [true], [false], [true], [false]]);
});
