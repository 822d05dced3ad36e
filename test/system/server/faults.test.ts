import { afterEach, describe, expect, it } from "vitest";
import { ADAPTERS, wireFormats } from "../../../src/providers/registry.ts";
import { FAULT_KINDS } from "../../../src/simulator/server/state.ts";
import { control } from "../../simulator/test-context.ts";
import { cleanUp } from "../../support/cleanup.ts";
import { deliverWebhook } from "../../support/http.ts";
import { createUser, type TestUser } from "../../support/people.ts";
import { SECRETS } from "../../support/variables.ts";
import { type ProviderContext, runWholeLife, startProviderContext } from "./provider-context.ts";

const PEOPLE = 5;

/** Each kind hits one event for sure, and a share of the others by chance. */
async function disturb({ sim }: ProviderContext, share: number): Promise<void> {
  for (const kind of FAULT_KINDS) {
    await control(sim.url, "/provider-a/faults", { kind, next: 1, share });
  }
}

const faultsOf = async ({ sim }: ProviderContext): Promise<Set<string | null>> => {
  const { deliveries } = (await control(sim.url, "/state")).slots["provider-a"];
  return new Set(deliveries.map(({ fault }: { fault: string | null }) => fault));
};

// Together, their servers would take most connections that PostgreSQL allows.
afterEach(cleanUp);

describe.each(wireFormats())(
  "events in the format %s, duplicated, delayed, reordered, lost and corrupted",
  (format) => {
    it("match the provider's subscriptions after reconcile", async () => {
      // A retry after a day becomes one within a minute.
      const context = await startProviderContext(format, { timeScale: 2_000 });
      const people: TestUser[] = [];
      for (let count = 0; count < PEOPLE; count += 1) people.push(await createUser(context.test));
      // The first step has an event of each kind; chance must not remove any.
      let share = 0;
      await runWholeLife(context, people, async ({ title }) => {
        // Lemon Squeezy cannot be asked about a subscription without any event.
        if (title === "buys") for (const person of people) await context.waitUntilEqual(person);
        await disturb(context, share);
        share = 0.08;
      });
      expect([...(await faultsOf(context))]).toEqual(expect.arrayContaining([...FAULT_KINDS]));

      const report = await context.tollgate.json("webhooks", "reconcile", "--slot", "provider-a");
      expect(report).toMatchObject({ left: [], slots: [{ problem: null }] });
      if (format === "lemon-squeezy") expect(report.slots[0].missed).toBeNull();
      else expect(report.slots[0].missed).toMatchObject({ failed: 0 });
      for (const person of people) expect(await context.atApi(person)).toEqual(context.atProvider(person));
      expect(await context.test.rows("select id from subscription where out_of_order")).toEqual([]);
      const repeated = await context.tollgate.json("webhooks", "reconcile", "--slot", "provider-a");
      expect(repeated).toMatchObject({ corrected: [], left: [] });
    });
  },
);

it("treats two identical Lemon Squeezy events of one second as one, and corrects the result by reconciling", async () => {
  // Only the operator compares.
  const context = await startProviderContext("lemon-squeezy", { variables: { SELF_HEAL: "off" } });
  const { server, sim, test, press, atApi, atProvider, waitUntilEqual } = context;
  const person = await createUser(test);
  await context.buy(person, { planId: "pro" });
  await waitUntilEqual(person);
  for (const action of ["cancel_at_period_end", "resume"]) {
    await press(person, action);
    await waitUntilEqual(person);
  }
  // The clock moves between two events: cancelled twice within a second, the second would be a repeat.
  await control(sim.url, "/provider-a/faults", { kind: "drop", next: 2 });
  await press(person, "cancel_at_period_end");
  await sim.settle();
  const [delivery] = await test.rows<{ payload: string; event_type: string }>(
    "select payload::text as payload, event_type from webhook_delivery where event_type = 'subscription_cancelled'",
  );
  const { payload, event_type: eventType } = delivery as { payload: string; event_type: string };
  const rawBody = Buffer.from(payload);
  const secret = SECRETS["provider-a"];
  const signed = { secret, nowSeconds: Math.floor(Date.now() / 1000), eventId: "", eventType };
  const headers = {
    ...ADAPTERS.of("lemon-squeezy").sign(rawBody, signed),
    "content-type": "application/json",
  };
  expect(await deliverWebhook(server.url, "provider-a", { rawBody, headers })).toMatchObject({
    status: 200,
    body: { received: true, duplicate: true },
  });
  expect([await atApi(person), atProvider(person)]).toMatchObject([
    [{ cancelAtPeriodEnd: false }],
    [{ cancelAtPeriodEnd: true }],
  ]);
  const { slots } = await context.tollgate.json("webhooks", "reconcile", "--slot", "provider-a");
  expect(slots).toMatchObject([{ changed: { corrected: 1 } }]);
  expect(await atApi(person)).toEqual(atProvider(person));
});
