import fc from "fast-check";
import { expect, it } from "vitest";
import { type Batcher, createBatcher } from "../../src/intake/queue/batcher.ts";
import { fixtureDelivery } from "../fixtures/fixture.ts";
import { freshRuntime } from "../support/fresh-runtime.ts";
import { SECRETS } from "../support/variables.ts";

const { test, runtime } = freshRuntime({ users: 3 });

it("applies events that arrive together in arrival order, duplicates included", async () => {
  let run = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ subscription: fc.nat(2), repeat: fc.nat(2) }), { minLength: 2, maxLength: 80 }),
      async (arrivals) => {
        run += 1;
        const last = new Map<number, number>();
        // Nothing is awaited in between, so all are in flight at once.
        const results = arrivals.flatMap(({ subscription, repeat }, index) => {
          last.set(subscription, 5 + index);
          const { rawBody, headers } = fixtureDelivery("stripe", "customer.subscription.updated", {
            secret: SECRETS["provider-a"],
            nowSeconds: Math.floor(Date.now() / 1000),
            eventId: `order${run}-${index}`,
            userId: `user_${subscription}`,
            planId: "team",
            subscriptionId: `order${run}-${subscription}`,
            seats: 5 + index,
            occurredAt: new Date(Date.UTC(2026, 0, 1) + index * 1000),
          });
          const request = { rawBody, header: (name: string) => headers[name] };
          return Array.from({ length: 1 + repeat }, () => runtime.intake.receive("provider-a", request));
        });
        const outcomes = (await Promise.all(results)).map(({ outcome }) => outcome);
        expect(outcomes.filter((outcome) => outcome === "applied")).toHaveLength(arrivals.length);
        expect(outcomes.filter((outcome) => outcome !== "applied" && outcome !== "duplicate")).toEqual([]);
        const rows = await test.rows<{ name: string; seats: number; out_of_order: boolean }>(
          `select provider_subscription_id as name, seats, out_of_order from subscription
           where provider_subscription_id like $1 order by 1`,
          [`order${run}-%`],
        );
        expect(rows).toEqual(
          [...last]
            .sort(([a], [b]) => a - b)
            .map(([subscription, seats]) => ({
              name: `order${run}-${subscription}`,
              seats,
              out_of_order: false,
            })),
        );
      },
    ),
    { numRuns: 100, interruptAfterTimeLimit: 40_000 },
  );
});

it("never runs two items with a common key at once and keeps their order", async () => {
  type Item = { id: number; keys: string[]; takesMs: number };
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({
          keys: fc.uniqueArray(fc.constantFrom("a", "b", "c", "d"), { minLength: 1, maxLength: 2 }),
          takesMs: fc.nat(2),
        }),
        { maxLength: 40 },
      ),
      fc.integer({ min: 1, max: 4 }),
      async (generated, maxInFlight) => {
        const running = new Set<string>();
        const order = new Map<string, number[]>();
        const groups: Batcher<Item, number> = createBatcher({
          keysOf: (item) => item.keys,
          bytesOf: () => 1,
          maxItems: 5,
          maxBytes: 100,
          maxInFlight,
          maxActive: maxInFlight,
          stalledAfterMs: 0,
          run: async (group) => {
            const keys = new Set(group.flatMap((item) => item.keys));
            for (const key of keys) {
              expect(running.has(key)).toBe(false);
              running.add(key);
            }
            for (const item of group) {
              for (const key of item.keys) order.set(key, [...(order.get(key) ?? []), item.id]);
            }
            await new Promise((resolve) => setTimeout(resolve, group[0]?.takesMs));
            for (const key of keys) running.delete(key);
            return group.map((item) => item.id);
          },
        });
        const items = generated.map((item, id) => ({ ...item, id }));
        const responses = await Promise.all(items.map((item) => groups.submit(item)));
        expect(responses).toEqual(items.map((item) => item.id));
        for (const [key, ids] of order) {
          expect(ids).toEqual(
            items.filter((item) => item.keys.some((own) => own === key)).map((item) => item.id),
          );
        }
        expect(groups.load()).toEqual({ items: 0, bytes: 0 });
      },
    ),
    { numRuns: 100 },
  );
});
