import { describe, expect, it } from "vitest";
import { ADAPTERS, wireFormats } from "../../src/providers/registry.ts";
import {
  CORRUPTION_KINDS,
  corruptDelivery,
  corruptionKinds,
  signDelivery,
} from "../../src/simulator/delivery/corruption.ts";
import { simulatedProviderOf } from "../../src/simulator/registry.ts";
import { createRng } from "../../src/simulator/scenario/rng.ts";
import { generateLifecycles, type Lifecycle } from "../../src/simulator/scenario/scenario.ts";
import { planDeliveries } from "../../src/simulator/scenario/schedule.ts";
import { percentile } from "../../src/simulator/scenario/stats.ts";
import "../fixtures/fifth-provider.ts";

const OFFERS = [
  {
    planId: "pro",
    priceId: "price_pro",
    planName: "Pro",
    amount: 2000,
    currency: "EUR",
    interval: "month" as const,
    seats: { min: 1, max: 5 },
  },
  {
    planId: "team",
    priceId: "price_team",
    planName: "Team",
    amount: 1500,
    currency: "EUR",
    interval: "month" as const,
    seats: { min: 5, max: 500 },
  },
];
const NOW = 1_800_000_000;

const generate = (seed: number, events: number): Lifecycle[] =>
  generateLifecycles(createRng(seed), {
    events,
    offers: OFFERS,
    nowSeconds: NOW,
    dunning: simulatedProviderOf("stripe").traits.dunning,
  });

describe("a scenario", () => {
  it.each([1, 2, 3, 1_000])("has exactly %i events", (events) => {
    for (let seed = 0; seed < 20; seed += 1) {
      expect(generate(seed, events).flatMap((lifecycle) => lifecycle.steps)).toHaveLength(events);
    }
  });

  it("is the same for the same seed, and differs for another one", () => {
    expect(generate(7, 300)).toEqual(generate(7, 300));
    expect(generate(7, 300)).not.toEqual(generate(8, 300));
  });

  it("gives each step a distinct second in the past, and a plan and seats that are sold", () => {
    const lifecycles = generate(1, 20_000);
    for (const { steps } of lifecycles) {
      const times = steps.map((step) => step.atSeconds);
      expect(times).toEqual([...new Set(times)].sort((a, b) => a - b));
      expect(times.at(-1)).toBeLessThanOrEqual(NOW);
      expect(steps[0]?.event).toBe(steps.length === 1 ? "created" : "checkout completed");
      expect(steps.slice(0, -1).map((step) => step.event)).not.toContain("deleted");
      for (const { state } of steps) {
        expect(state.seats).toBeGreaterThanOrEqual(state.offer.seats.min);
        expect(state.seats).toBeLessThanOrEqual(state.offer.seats.max);
      }
    }
    const kinds = new Set(lifecycles.flatMap((lifecycle) => lifecycle.steps.map((step) => step.event)));
    expect(kinds.size).toBe(11);
  });
});

describe("planDeliveries", () => {
  it("repeats and corrupts exactly the given shares, never before the event itself", () => {
    const lifecycles = generate(3, 1_000);
    const deliveries = planDeliveries(createRng(3), lifecycles, {
      duplicates: 0.2,
      corrupt: 0.05,
      traits: simulatedProviderOf("stripe").traits,
    });
    const count = (as: string) => deliveries.flat().filter((delivery) => delivery.as === as).length;
    expect(count("twice at once") + count("repeat")).toBe(200);
    expect(count("twice at once")).toBeGreaterThan(50);
    expect(count("corrupted")).toBe(50);
    expect(count("event") + count("twice at once")).toBe(1_000);
    for (const ofLifecycle of deliveries) {
      const sent = ofLifecycle.filter(
        (delivery) => delivery.as === "event" || delivery.as === "twice at once",
      );
      expect(sent.map((delivery) => delivery.at)).toEqual(sent.map((_, index) => index));
      for (const [index, delivery] of ofLifecycle.entries()) {
        if (delivery.as === "repeat")
          expect(ofLifecycle.slice(0, index).map((earlier) => earlier.at)).toContain(delivery.at);
      }
    }
  });
});

describe.each(wireFormats())("in the format %s", (format) => {
  const adapter = ADAPTERS.of(format);
  const provider = simulatedProviderOf(format);
  const { renderer } = provider;
  const verified = ({ rawBody, headers }: ReturnType<typeof signDelivery>) =>
    adapter.verify(
      { rawBody, header: (name) => headers[name] },
      { secrets: ["whsec_c2VjcmV0LW9mLXRoZS10ZXN0"], nowSeconds: NOW, toleranceSeconds: 300 },
    );
  const events = generate(5, 300).flatMap((lifecycle, number) =>
    lifecycle.steps.map((step, at) => {
      const ids = { userId: `user_${number}`, ...renderer.newIds("run0", number) };
      return { lifecycle, step, ids, event: renderer.render({ lifecycle, step, at, ids, run: "run0" }) };
    }),
  );
  const signing = (event: { eventId: string; eventType: string }) => ({
    traits: provider.traits,
    adapter,
    secret: "whsec_c2VjcmV0LW9mLXRoZS10ZXN0",
    nowSeconds: NOW,
    eventId: event.eventId,
    eventType: event.eventType,
  });

  it("renders events with valid signatures, unique ids and the right content", () => {
    const eventIds = new Set<string>();
    for (const { lifecycle, step, ids, event } of events) {
      const delivery = signDelivery(Buffer.from(JSON.stringify(event.body)), signing(event));
      expect(verified(delivery)).toBeNull();
      const request = { rawBody: delivery.rawBody, header: (name: string) => delivery.headers[name] };
      const identity = adapter.identify(request, event.body);
      eventIds.add(identity.eventId);
      const { state } = step;
      expect(adapter.interpret(identity.eventType, event.body)).toMatchObject({
        occurredAtMicros: step.atSeconds * 1e6,
        userId: ids.userId,
        planId: lifecycle.bought.planId,
        customerId: ids.customerId,
        ...(step.event === "checkout completed"
          ? { kind: "checkout.session.completed", status: null }
          : { providerSubscriptionId: ids.subscriptionId, status: state.status }),
      });
    }
    expect(eventIds.size).toBe(events.length);
  });

  it("renders events as large as the provider's", () => {
    const sizes = events.map(({ event }) => JSON.stringify(event.body).length);
    expect(Math.min(...sizes)).toBeGreaterThan(1_000);
    expect(Math.max(...sizes)).toBeLessThan(4_096);
  });

  it("renders corrupted deliveries with invalid signatures", () => {
    expect(corruptionKinds(provider.traits).length).toBeGreaterThanOrEqual(CORRUPTION_KINDS.length - 1);
    for (const { event } of events) {
      for (const kind of corruptionKinds(provider.traits)) {
        const delivery = corruptDelivery(kind, Buffer.from(JSON.stringify(event.body)), signing(event));
        expect(verified(delivery)).not.toBeNull();
      }
    }
  });
});

describe("percentile", () => {
  it("returns the smallest value that the given share of values does not exceed", () => {
    const values = Array.from({ length: 100 }, (_, index) => 100 - index);
    expect([0, 0.5, 0.99, 1].map((share) => percentile(values, share))).toEqual([1, 50, 99, 100]);
    expect(percentile([7], 0.99)).toBe(7);
    expect(percentile([], 0.5)).toBe(0);
  });
});
