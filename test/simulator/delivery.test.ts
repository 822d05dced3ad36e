import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { WireFormat } from "../../src/providers/adapter.ts";
import { ADAPTERS, wireFormats } from "../../src/providers/registry.ts";
import { eventually } from "../support/eventually.ts";
import { SECRETS } from "../support/variables.ts";
import { type Endpoint, endpoint } from "./endpoint.ts";
import { control, order, press, simulator } from "./test-context.ts";
import "../fixtures/fifth-provider.ts";

const SECRET = SECRETS["provider-a"];

/** A provider with one slot in use, and an endpoint to deliver to. */
async function provider(format: WireFormat, options: { timeScale?: number; answerWithinMs?: number } = {}) {
  const hook = await endpoint(format, SECRET);
  const sim = await simulator({
    formats: { "provider-a": format },
    deliverTo: () => hook.url,
    timeScale: 1_000,
    ...options,
  });
  const slot = async () => (await control(sim.url, "/state")).slots["provider-a"];
  const buy = async () => {
    const { url } = await order(sim.url, format);
    await press(url, { action: "pay", email: "user@example.com", card: "4242424242424242" });
  };
  const act = async (action: string, fields: Record<string, string> = {}) => {
    const [{ id, portalUrl }] = (await slot()).subscriptions.slice(-1);
    const answer = await press(portalUrl, { subscription: id, action, ...fields });
    expect(answer.status).toBe(303);
  };
  const fault = (kind: string, next: number, share = 0) =>
    control(sim.url, "/provider-a/faults", { kind, next, share });
  return { hook, sim, slot, buy, act, fault };
}

const typesOf = ({ arrivals }: Endpoint) => arrivals.map(({ eventType }) => eventType);

describe.each(wireFormats())("deliveries in the format %s", (format) => {
  it("are signed, have unique ids and end in the right state", async () => {
    const { hook, sim, buy, act } = await provider(format);
    await buy();
    for (const [action, fields] of [
      ["seats", { seats: "4" }],
      ["plan", { price: "price_team_monthly" }],
      ["cancel_at_period_end", {}],
      ["resume", {}],
      ["fail_renewal", {}],
    ] as const) {
      await act(action, fields);
      await sim.settle();
      check();
    }
    for (const by of ["next", "next", "month"]) {
      await control(sim.url, "/clock", { by });
      await sim.settle();
      check();
    }
    await act("cancel_now").catch(() => {});
    await sim.settle();
    check();

    function check(): void {
      expect(hook.arrivals.map(({ problem }) => problem)).toEqual(hook.arrivals.map(() => null));
      expect(new Set(hook.arrivals.map(({ eventId }) => eventId)).size).toBe(hook.arrivals.length);
      const events = hook.arrivals.map(({ eventType, body }) =>
        ADAPTERS.of(format).interpret(eventType, body),
      );
      const standings = events.filter(({ status }) => status !== null);
      const last = standings.reduce((latest, event) =>
        (event.occurredAtMicros ?? 0) >= (latest.occurredAtMicros ?? 0) ? event : latest,
      );
      const [truth] = sim.subscriptions("provider-a");
      expect({
        providerSubscriptionId: last.providerSubscriptionId,
        userId: last.userId,
        status: last.status,
        cancelAtPeriodEnd: last.cancelAtPeriodEnd,
        seats: last.items[0]?.seats,
      }).toEqual({
        providerSubscriptionId: truth?.providerSubscriptionId,
        userId: truth?.userId,
        status: truth?.status,
        cancelAtPeriodEnd: truth?.cancelAtPeriodEnd,
        seats: truth?.seats,
      });
    }
  });

  it("are sent again on request; dropped ones are not retried", async () => {
    const { hook, sim, buy, slot, fault } = await provider(format);
    await fault("drop", 1);
    await buy();
    await sim.settle();
    const [dropped, second] = (await slot()).deliveries;
    expect({ dropped: dropped.status, tries: dropped.tries, second: second.status }).toEqual({
      dropped: "dropped",
      tries: [],
      second: "delivered",
    });
    const before = hook.arrivals.length;
    await control(sim.url, "/provider-a/redeliver", { number: dropped.number });
    await sim.settle();
    expect(hook.arrivals.slice(before).map(({ eventType }) => eventType)).toEqual([dropped.eventType]);
  });

  it("are duplicated, corrupted or delayed by injected faults", async () => {
    const { hook, sim, buy, act, fault, slot } = await provider(format);
    await buy();
    await sim.settle();
    // Some providers report the charge of a change as well: the fault hits the first event alone.
    const arrivalsOf = async (kind: string) => {
      const deliveries: { eventId: string; fault: string | null; status: string }[] = (await slot())
        .deliveries;
      const hit = deliveries.filter((delivery) => delivery.fault === kind);
      expect(hit).toMatchObject([{ status: "delivered" }]);
      return hook.arrivals.filter(({ eventId }) => eventId === hit[0]?.eventId);
    };

    await fault("duplicate", 1);
    hook.arrivals.length = 0;
    await act("seats", { seats: "2" });
    await sim.settle();
    expect(await arrivalsOf("duplicate")).toHaveLength(2);

    await fault("corrupt", 1);
    hook.arrivals.length = 0;
    hook.answer(({ problem }) => (problem === null ? 200 : 400));
    await act("seats", { seats: "3" });
    await sim.settle();
    expect(hook.arrivals.filter(({ problem }) => problem !== null)).toHaveLength(1);
    expect((await arrivalsOf("corrupt")).at(-1)?.problem).toBeNull();

    await fault("delay", 1);
    hook.arrivals.length = 0;
    const startedAt = performance.now();
    await act("seats", { seats: "4" });
    await sim.settle();
    const [late] = await arrivalsOf("delay");
    expect((late?.atMs ?? 0) - startedAt).toBeGreaterThan(25);
  });

  it("are reordered by an injected fault", async () => {
    // The first one is delayed for seconds of real time, so that the second overtakes it on a busy machine
    // too.
    const { hook, sim, buy, act, fault, slot } = await provider(format, { timeScale: 1 });
    await buy();
    await sim.settle();
    await fault("reorder", 1);
    hook.arrivals.length = 0;
    await Promise.all([act("seats", { seats: "5" }), act("plan", { price: "price_team_monthly" })]);
    await sim.settle();
    const deliveries: { eventId: string; fault: string | null }[] = (await slot()).deliveries;
    const heldBack = deliveries.find((delivery) => delivery.fault === "reorder")?.eventId;
    const arrived = hook.arrivals.map(({ eventId }) => eventId);
    expect(arrived).toContain(heldBack);
    expect(arrived[0]).not.toBe(heldBack);
  });
});

describe("a failing endpoint", () => {
  it("gets Stripe's events for three days, in any order", async () => {
    const { hook, sim, buy, slot } = await provider("stripe", { timeScale: 1e6 });
    let release = () => {};
    const bothArrived = new Promise<void>((resolve) => {
      release = resolve;
    });
    hook.answer(async () => {
      if (hook.arrivals.length === 2) release();
      await bothArrived;
      return 500;
    });
    await buy();
    await sim.settle();
    expect(hook.most).toBeGreaterThan(1);
    expect(
      (await slot()).deliveries.map((delivery: { status: string; tries: [] }) => [
        delivery.status,
        delivery.tries.length,
      ]),
    ).toEqual(Array.from({ length: 5 }, () => ["given up", 10]));
  });

  it("gets Paddle's events 60 more times", async () => {
    const { hook, sim, buy, slot } = await provider("paddle", { timeScale: 1e7 });
    hook.answer(() => 302);
    await buy();
    await sim.settle();
    expect((await slot()).deliveries[0]).toMatchObject({ status: "given up", failures: 61 });
  });

  it("gets Lemon Squeezy's events three more times unless it answers 200", async () => {
    const { hook, sim, buy } = await provider("lemon-squeezy", { timeScale: 500 });
    hook.answer(() => 201);
    await buy();
    await sim.settle();
    const [first] = hook.arrivals;
    const tries = hook.arrivals.filter(({ eventId }) => eventId === first?.eventId).map(({ atMs }) => atMs);
    const waits = tries.slice(1).map((atMs, at) => (atMs - (tries[at] ?? 0)) / 2);
    expect(waits).toHaveLength(3);
    for (const [at, seconds] of [5, 25, 125].entries()) {
      expect(waits[at]).toBeGreaterThan(seconds * 0.9);
    }
  });

  it("delays Polar's later events until an earlier one was tried", async () => {
    const { hook, sim, buy, act } = await provider("polar");
    const others = () => typesOf(hook).filter((type) => type !== "subscription.created");
    // Fails for as long as it takes the others to come.
    hook.answer(({ eventType }) => (eventType === "subscription.created" && others().length < 4 ? 503 : 200));
    await buy();
    await act("seats", { seats: "2" });
    await sim.settle();
    const types = typesOf(hook);
    expect([types[0], types.at(-1)]).toEqual(["subscription.created", "subscription.created"]);
    expect(others().sort()).toEqual(
      ["order.paid", "subscription.active", "subscription.updated", "subscription.updated"].sort(),
    );
    const tries = hook.arrivals.filter((_, at) => types[at] === "subscription.created");
    expect(new Set(tries.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    expect(hook.arrivals.map(({ problem }) => problem)).toEqual(hook.arrivals.map(() => null));
  });

  it("delays Polar's later events while an earlier one is being answered, even when the clock is moved", async () => {
    const { hook, sim, buy, act } = await provider("polar");
    await buy();
    await sim.settle();
    hook.arrivals.length = 0;
    const moved = Promise.withResolvers<void>();
    hook.answer(async () => {
      await moved.promise;
      // Longer than an event counts as young here.
      await sleep(hook.arrivals.length === 1 ? 200 : 0);
      return 200;
    });
    await act("seats", { seats: "2" });
    await control(sim.url, "/clock", { by: "month" });
    moved.resolve();
    await sim.settle();
    expect(typesOf(hook)).toEqual(["subscription.updated", "subscription.updated", "order.paid"]);
    expect(hook.most).toBe(1);
  });

  it("is disabled by Polar after ten events with ten failed attempts each", async () => {
    const { hook, sim, buy, act, slot } = await provider("polar", { timeScale: 1e6 });
    hook.answer(() => 500);
    await buy();
    for (const seats of [2, 3, 4, 5, 1, 2]) await act("seats", { seats: String(seats) });
    await sim.settle();
    const { endpoint: disabled, deliveries } = await slot();
    expect(disabled).toEqual({ isDisabled: true, exhaustedInARow: 10 });
    expect(deliveries.map(({ failures }: { failures: number }) => failures)).toEqual(Array(10).fill(10));
    await act("seats", { seats: "5" });
    await sim.settle();
    expect((await slot()).deliveries).toHaveLength(deliveries.length);
    hook.answer(() => 200);
    await control(sim.url, "/provider-a/enable", {});
    await act("seats", { seats: "3" });
    await sim.settle();
    expect(typesOf(hook).slice(100)).toEqual(["subscription.updated"]);
  });

  it("retries a delivery that times out", async () => {
    const { hook, sim, buy, slot } = await provider("polar", { answerWithinMs: 60 });
    hook.answer(() => (hook.arrivals.length === 1 ? null : 200));
    await buy();
    await sim.settle();
    const [first] = (await slot()).deliveries;
    // On a busy machine the next tries may time out as well.
    expect(first.tries[0]).toMatchObject({ outcome: "no response: timed out", wasTaken: false });
    expect(first.tries.at(-1)).toMatchObject({ wasTaken: true });
    expect(first.tries.length).toBeGreaterThan(1);
  });

  it("is retried when the clock is moved", async () => {
    const { hook, sim, buy, slot } = await provider("stripe", { timeScale: 1 });
    hook.answer(() => (hook.arrivals.length <= 5 ? 500 : 200));
    await buy();
    const failures = async () =>
      (await slot()).deliveries.map((delivery: { failures: number }) => delivery.failures);
    await eventually(failures, [1, 1, 1, 1, 1]);
    await control(sim.url, "/clock", { by: 301 });
    await sim.settle();
    expect((await slot()).deliveries.map(({ status }: { status: string }) => status)).toEqual(
      Array(5).fill("delivered"),
    );
  });
});

describe("a server that does not listen yet", () => {
  it("uses up no delivery attempt", async () => {
    const hook = await endpoint("polar", SECRET);
    let address = "/not/known/yet";
    const sim = await simulator({ formats: { "provider-a": "polar" }, deliverTo: () => address });
    const { url } = await order(sim.url, "polar");
    await press(url, { action: "pay", email: "user@example.com", card: "4242424242424242" });
    const slot = async () => (await control(sim.url, "/state")).slots["provider-a"];
    expect((await slot()).deliveries.map((delivery: { tries: [] }) => delivery.tries)).toEqual(
      Array(4).fill([]),
    );
    address = hook.url;
    await sim.settle();
    expect((await slot()).deliveries.map((delivery: { tries: [] }) => delivery.tries.length)).toEqual(
      Array(4).fill(1),
    );
  });
});

describe("a rotated secret", () => {
  it("signs all later events", async () => {
    const { hook, sim, buy } = await provider("stripe");
    const { slots } = await control(sim.url, "/provider-a/secret", {});
    expect(sim.secret("provider-a")).not.toBe(SECRET);
    expect(slots["provider-a"].secret).toBe(`…${sim.secret("provider-a").slice(-4)}`);
    await buy();
    await sim.settle();
    const [arrival] = hook.arrivals;
    if (!arrival) throw new Error("nothing came");
    expect(arrival.problem).toBe("no signature matches a secret");
    const request = { rawBody: arrival.rawBody, header: (name: string) => arrival.headers[name] };
    const options = {
      secrets: [sim.secret("provider-a")],
      nowSeconds: Date.now() / 1_000,
      toleranceSeconds: 300,
    };
    expect(ADAPTERS.of("stripe").verify(request, options)).toBeNull();
  });
});
