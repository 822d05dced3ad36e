import { describe, expect, it } from "vitest";
import { WIRE_FORMATS } from "../../src/providers/adapter.ts";
import { ADAPTERS } from "../../src/providers/formats.ts";
import { DAMAGE_KINDS, damaged, damageKinds, signed } from "../../src/simulator/damage.ts";
import { dealTurns } from "../../src/simulator/deck.ts";
import { createDice } from "../../src/simulator/dice.ts";
import { RENDERERS } from "../../src/simulator/renderers.ts";
import { type Life, tellLives } from "../../src/simulator/story.ts";
import { percentile } from "../../src/simulator/tally.ts";

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

const tell = (seed: number, events: number): Life[] =>
  tellLives(createDice(seed), { events, offers: OFFERS, nowSeconds: NOW });

describe("a story", () => {
  it.each([1, 2, 3, 1_000])("has exactly %i events", (events) => {
    for (let seed = 0; seed < 20; seed += 1) {
      expect(tell(seed, events).flatMap((life) => life.steps)).toHaveLength(events);
    }
  });

  it("is the same for the same seed, and another one for another", () => {
    expect(tell(7, 300)).toEqual(tell(7, 300));
    expect(tell(7, 300)).not.toEqual(tell(8, 300));
  });

  it("is believable: each life in its own seconds, in the past, on plans and seats that are sold", () => {
    const lives = tell(1, 20_000);
    for (const { steps } of lives) {
      const times = steps.map((step) => step.atSeconds);
      expect(times).toEqual([...new Set(times)].sort((a, b) => a - b));
      expect(times.at(-1)).toBeLessThanOrEqual(NOW);
      expect(steps[0]?.happening).toBe(steps.length === 1 ? "created" : "checkout completed");
      expect(steps.slice(0, -1).map((step) => step.happening)).not.toContain("deleted");
      for (const { standing } of steps) {
        expect(standing.seats).toBeGreaterThanOrEqual(standing.offer.seats.min);
        expect(standing.seats).toBeLessThanOrEqual(standing.offer.seats.max);
      }
    }
    const happened = new Set(lives.flatMap((life) => life.steps.map((step) => step.happening)));
    expect(happened.size).toBe(11);
  });
});

describe("a deal", () => {
  it("repeats and damages exactly the shares that were asked for, never before their event's place in line", () => {
    const lives = tell(3, 1_000);
    const turns = dealTurns(createDice(3), lives, { duplicates: 0.2, corrupt: 0.05, format: "stripe" });
    const count = (as: string) => turns.flat().filter((turn) => turn.as === as).length;
    expect(count("twice at once") + count("repeat")).toBe(200);
    expect(count("twice at once")).toBeGreaterThan(50);
    expect(count("damaged")).toBe(50);
    expect(count("event") + count("twice at once")).toBe(1_000);
    for (const ofLife of turns) {
      const told = ofLife.filter((turn) => turn.as === "event" || turn.as === "twice at once");
      expect(told.map((turn) => turn.at)).toEqual(told.map((_, index) => index));
      for (const [index, turn] of ofLife.entries()) {
        if (turn.as === "repeat") expect(ofLife.slice(0, index).map((one) => one.at)).toContain(turn.at);
      }
    }
  });
});

describe.each(WIRE_FORMATS)("in the format %s", (format) => {
  const adapter = ADAPTERS[format];
  const renderer = RENDERERS[format];
  const verified = ({ rawBody, headers }: ReturnType<typeof signed>) =>
    adapter.verify(
      { rawBody, header: (name) => headers[name] },
      { secrets: ["whsec_c2VjcmV0LW9mLXRoZS10ZXN0"], nowSeconds: NOW, toleranceSeconds: 300 },
    );
  const events = tell(5, 300).flatMap((life, number) =>
    life.steps.map((step, at) => {
      const subject = { userId: `user_${number}`, ...renderer.namesOf("run0", number) };
      return { life, step, subject, event: renderer.render({ life, step, at, subject, run: "run0" }) };
    }),
  );
  const signing = (event: { eventId: string; eventType: string }) => ({
    ...{ adapter, secret: "whsec_c2VjcmV0LW9mLXRoZS10ZXN0", nowSeconds: NOW },
    ...{ eventId: event.eventId, eventType: event.eventType },
  });

  it("every event is verified, has an id of its own, and says what happened", () => {
    const ids = new Set<string>();
    for (const { life, step, subject, event } of events) {
      const delivery = signed(Buffer.from(JSON.stringify(event.body)), signing(event));
      expect(verified(delivery)).toBeNull();
      const request = { rawBody: delivery.rawBody, header: (name: string) => delivery.headers[name] };
      const identity = adapter.identify(request, event.body);
      ids.add(identity.eventId);
      const { standing } = step;
      expect(adapter.interpret(identity.eventType, event.body)).toMatchObject({
        occurredAtMicros: step.atSeconds * 1e6,
        userId: subject.userId,
        planId: life.bought.planId,
        customerId: subject.customerId,
        ...(step.happening === "checkout completed"
          ? { kind: "checkout.session.completed", status: null }
          : { providerSubscriptionId: subject.subscriptionId, status: standing.status }),
      });
    }
    expect(ids.size).toBe(events.length);
  });

  it("every event is as large as a provider's", () => {
    const sizes = events.map(({ event }) => JSON.stringify(event.body).length);
    expect(Math.min(...sizes)).toBeGreaterThan(1_000);
    expect(Math.max(...sizes)).toBeLessThan(4_096);
  });

  it("no damaged delivery is verified, whatever was done to it", () => {
    expect(damageKinds(format).length).toBeGreaterThanOrEqual(DAMAGE_KINDS.length - 1);
    for (const { event } of events) {
      for (const kind of damageKinds(format)) {
        const delivery = damaged(kind, Buffer.from(JSON.stringify(event.body)), signing(event));
        expect(verified(delivery)).not.toBeNull();
      }
    }
  });
});

describe("a percentile", () => {
  it("is the smallest value that the share of all values do not exceed", () => {
    const values = Array.from({ length: 100 }, (_, index) => 100 - index);
    expect([0, 0.5, 0.99, 1].map((share) => percentile(values, share))).toEqual([1, 50, 99, 100]);
    expect(percentile([7], 0.99)).toBe(7);
    expect(percentile([], 0.5)).toBe(0);
  });
});
