import type { IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { receiveDelivery } from "../../../src/api/receive-delivery.ts";
import type { Intake, ReceiveResult } from "../../../src/intake/intake.ts";
import { isOverloaded } from "../../../src/intake/queue/overload.ts";
import { receive } from "../../../src/intake/receive.ts";
import type { Log } from "../../../src/observability/log.ts";

type Queue = { items?: number; bytes?: number; delayMs?: number };

function batcher({ items = 0, bytes = 0, delayMs = 0 }: Queue) {
  return { load: () => ({ items, bytes }), delayMs: () => delayMs };
}

type Queues = { deliveries?: Queue; repeats?: Queue; claims?: Queue; attempts?: Queue };

function intakeWith({ deliveries = {}, repeats = {}, claims = {}, attempts = {} }: Queues): Intake {
  return {
    deliveries: batcher(deliveries),
    repeats: batcher(repeats),
    claims: batcher(claims),
    attempts: batcher(attempts),
  } as unknown as Intake;
}

it.each([
  ["nothing waits", {}, false],
  ["many events wait for a short time", { deliveries: { items: 5_000, delayMs: 1_900 } }, false],
  ["the oldest first delivery has waited for 2 s", { deliveries: { items: 1, delayMs: 2_001 } }, true],
  ["the oldest repeat has waited for 2 s", { repeats: { items: 1, delayMs: 2_001 } }, true],
  ["the oldest claim has waited for 2 s", { claims: { items: 1, delayMs: 2_001 } }, true],
  ["attempts wait, which have their claims", { attempts: { items: 1, delayMs: 2_001 } }, false],
  ["20,000 events wait in all", { deliveries: { items: 10_000 }, attempts: { items: 10_000 } }, true],
  ["20,000 repeats and claims wait", { repeats: { items: 10_000 }, claims: { items: 10_000 } }, true],
  ["bodies of 128 MiB wait in all", { claims: { bytes: 2 ** 26 }, attempts: { bytes: 2 ** 26 } }, true],
])("decides by age and memory whether the intake is overloaded: %s", (_, queues, expected) => {
  expect(isOverloaded(intakeWith(queues))).toBe(expected);
});

it("refuses a delivery before it reads the signature", async () => {
  const overloaded = intakeWith({ deliveries: { items: 1, delayMs: 2_001 } });
  const header = () => {
    throw new Error("the signature was read");
  };
  const rawBody = Buffer.from("{}");
  expect(await receive(overloaded, "provider-a", { rawBody, header })).toEqual({
    outcome: "unavailable",
    cause: "overloaded",
  });
});

it.each([
  ["overloaded", "more deliveries are waiting than can be answered in time"],
  ["too slow", "it could not be processed in time"],
  ["database", "the database is unavailable or too slow"],
] as const)("logs why a delivery was not accepted: %s", async (cause, reason) => {
  const messages: string[] = [];
  const log = { error: (_: object, message: string) => messages.push(message) } as unknown as Log;
  const incoming = Object.assign(new PassThrough().end("{}"), { headers: {} });
  const options = {
    intake: { receive: async (): Promise<ReceiveResult> => ({ outcome: "unavailable", cause }) },
    maxBodyBytes: 1_000,
    secretVariables: { "provider-a": "A", "provider-b": "B", "provider-c": "C" },
    observe: null,
    log,
  };
  const response = await receiveDelivery(
    options,
    "provider-a",
    incoming as unknown as IncomingMessage,
    "request",
  );
  expect(response.status).toBe(503);
  expect(messages).toEqual([`delivery not accepted: ${reason}`]);
});
