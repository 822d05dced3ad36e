import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { CommittedChange } from "../../src/domain/outbound/subscription-hook.ts";
import { outboundAllow } from "../../src/outbound/allowed-targets.ts";
import { callAfterHook } from "../../src/outbound/call-after-hook.ts";
import { type AttemptOptions, makeAttempt } from "../../src/outbound/make-attempt.ts";
import { newEndpointSecret } from "../../src/outbound/sign.ts";
import type { ClaimedDelivery } from "../../src/store/outbound/claim-outbound-deliveries.ts";
import { type Receiver, startReceiver } from "./receiver.ts";

const EVENT = {
  id: "evt_1",
  type: "subscription.changed" as const,
  occurredAt: new Date("2026-05-06T07:08:09Z"),
  // As stored: times are text.
  data: {
    userId: "user_1",
    externalId: "customer-17",
    subscription: {
      id: "00000000-0000-4000-8000-000000000001",
      userId: "user_1",
      provider: "provider-a",
      providerSubscriptionId: "sub_1",
      planId: "pro",
      seats: 3,
      status: "active",
      currentPeriodEnd: "2026-06-01T00:00:00.000Z",
      cancelAtPeriodEnd: false,
      outOfOrder: false,
      createdAt: "2026-01-01T00:00:00.000Z",
      updatedAt: "2026-05-06T07:08:09.000Z",
    },
  },
};

let status = 204;
let receiver: Receiver;
let outcomes: string[];
beforeAll(async () => {
  receiver = await startReceiver((response) => void response.writeHead(status).end());
});
afterAll(() => receiver.close());
beforeEach(() => {
  status = 204;
  outcomes = [];
  receiver.received.length = 0;
});

function attempt(
  delivery: Partial<ClaimedDelivery> = {},
  { claimedMsAgo = 0, ...options }: Partial<AttemptOptions> & { claimedMsAgo?: number } = {},
) {
  return makeAttempt(
    {
      allow: outboundAllow({ hosts: [], ranges: ["127.0.0.0/8"] }),
      now: Date.now,
      hooks: new Map(),
      log: { warn() {} },
      observe: (outcome) => outcomes.push(outcome),
      ...options,
    },
    {
      id: "1",
      claimNo: 1,
      attempts: 2,
      endpointId: "00000000-0000-4000-8000-000000000002",
      subject: "s",
      url: receiver.url,
      hook: null,
      secrets: [newEndpointSecret()],
      position: 1n,
      event: EVENT,
      ...delivery,
    },
    performance.now() - claimedMsAgo,
  );
}

describe("an attempt", () => {
  it("results in a delivery, or in a failure and the wait after it", async () => {
    expect(await attempt()).toMatchObject({ result: { isDelivered: true, responseStatus: 204 } });
    status = 500;
    const failed = await attempt();
    expect(failed).toMatchObject({ result: { isDelivered: false, responseStatus: 500 } });
    // 60 s after the second failure, give or take 20 %.
    expect(Math.abs((failed?.retryInSeconds ?? 0) - 60)).toBeLessThanOrEqual(12);
    expect(outcomes).toEqual(["delivered", "failed"]);
    expect(receiver.received).toHaveLength(2);
  });

  it("is not made more than 20 s after the claim: another process may be sending the event", async () => {
    expect(await attempt({}, { claimedMsAgo: 20_001 })).toBeNull();
    expect(receiver.received).toEqual([]);
    expect(outcomes).toEqual([]);
  });

  it("fails when its event is no longer stored", async () => {
    expect(await attempt({ event: null })).toMatchObject({
      result: {
        isDelivered: false,
        responseStatus: null,
        error: "the event is no longer stored, or cannot be read",
      },
    });
    expect(receiver.received).toEqual([]);
  });
});

describe("an attempt at a plugin", () => {
  const call = (hook: (change: CommittedChange) => unknown, event = EVENT) =>
    attempt({ url: null, hook: "crm", event }, { hooks: new Map([["crm", hook]]) });

  it("calls its function with the change, whose times are dates", async () => {
    const changes: CommittedChange[] = [];
    const { data, ...event } = EVENT;
    const withoutEnd = { ...data, subscription: { ...data.subscription, currentPeriodEnd: null } };
    for (const each of [EVENT, { ...event, data: withoutEnd } as unknown as typeof EVENT])
      expect(await call((change) => changes.push(change), each)).toMatchObject({
        result: { isDelivered: true, responseStatus: null, error: null },
      });
    const { id, type, occurredAt } = EVENT;
    const createdAt = new Date("2026-01-01T00:00:00Z");
    const subscription = { ...data.subscription, createdAt, updatedAt: occurredAt };
    expect(changes).toEqual(
      [new Date("2026-06-01T00:00:00Z"), null].map((currentPeriodEnd) => ({
        ...{ id, type, occurredAt, externalId: "customer-17" },
        subscription: { ...subscription, currentPeriodEnd },
      })),
    );
    expect(outcomes).toEqual(["delivered", "delivered"]);
  });

  it.each<[string, () => unknown, string]>([
    [
      "it throws",
      () => {
        throw new Error("x".repeat(301));
      },
      "x".repeat(300),
    ],
    ["it rejects", () => Promise.reject(new Error("down")), "down"],
    ["what it throws is no error", () => Promise.reject("down"), "failed"],
  ])("fails when %s", async (_, hook, error) => {
    expect(await call(hook)).toMatchObject({ result: { isDelivered: false, error } });
    expect(outcomes).toEqual(["failed"]);
  });

  it("fails when the function does not end in time", async () => {
    const never = () => new Promise(() => {});
    expect(
      await callAfterHook({ call: never, log: { warn() {} }, timeoutMs: 50 }, "crm", EVENT),
    ).toMatchObject({ isDelivered: false, error: "took longer than 0.05 s" });
  });

  it("fails when this process no longer has the plugin", async () => {
    expect(await attempt({ url: null, hook: "crm" })).toMatchObject({
      result: { isDelivered: false, error: "the plugin is not loaded" },
    });
    expect(receiver.received).toEqual([]);
  });
});
