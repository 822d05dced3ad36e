import { afterAll, expect, it } from "vitest";
import { fixtureDelivery } from "../fixtures/fixture.ts";
import { freshRuntime } from "../support/fresh-runtime.ts";
import { SECRETS } from "../support/variables.ts";

const { test, runtime } = freshRuntime({ users: 2, variables: { PROVIDER_C_ADAPTER: "lemon-squeezy" } });

afterAll(() => runtime.intake?.idle());

// Stripe's events are written at once, those of Lemon Squeezy claimed first.
it.each([
  ["provider-a", "stripe"],
  ["provider-c", "lemon-squeezy"],
] as const)(
  "requests a comparison of a subscription once an event that could not be applied to it is recorded: %s, %s",
  async (slot, format) => {
    const milestones: unknown[] = [];
    runtime.intake.reached = (milestone) => void milestones.push(milestone);
    runtime.intake.requestComparison = (...of) => void milestones.push(of);
    const receive = async (planId: string, second: number) => {
      const { rawBody, headers } = fixtureDelivery(format, "customer.subscription.updated", {
        secret: SECRETS[slot],
        nowSeconds: Math.floor(Date.now() / 1000),
        eventId: `${slot}-${second}`,
        userId: "user_1",
        subscriptionId: "11",
        planId,
        occurredAt: new Date(Date.UTC(2026, 0, 1, 0, 0, second)),
      });
      return runtime.intake.receive(slot, { rawBody, header: (name: string) => headers[name] });
    };
    expect(await receive("pro", 1)).toMatchObject({ outcome: "applied" });
    expect(milestones).not.toContainEqual([slot, expect.anything()]);

    milestones.length = 0;
    await receive("no-such-plan", 2);
    const [stored] = await test.rows("select id from subscription where provider = $1", [slot]);
    expect(milestones.slice(-2)).toEqual(["committed", [slot, [stored?.id]]]);
  },
);
