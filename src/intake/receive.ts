import { InvalidPayload } from "../domain/deliveries/payload-problems.ts";
import type { EventIdentity } from "../domain/events/payment-event.ts";
import type { Slot } from "../domain/slot.ts";
import type { Adapter, SignedRequest } from "../providers/adapter.ts";
import type { NewDelivery } from "../store/deliveries/deliveries.ts";
import { keyOf } from "../store/deliveries/delivery-key.ts";
import { claimAndApply } from "./claims/claim-and-apply.ts";
import type { IncomingEvent, ReceivedOutcome } from "./incoming-event.ts";
import type { Intake, ReceiveResult } from "./intake.ts";
import { parsePayload } from "./payload.ts";
import type { PendingResult } from "./queue/in-process.ts";
import { isOverloaded } from "./queue/overload.ts";
import { type ReadEvent, readEvent } from "./read-event.ts";

/** Providers time out after 5 to 10 s; work that continues after our response is found by their retry. */
const ANSWER_WITHIN_MS = 4_500;

/** Processes one delivery: verify, parse, apply, store. Resolves when its result is durable. */
export async function receive(intake: Intake, slot: Slot, request: SignedRequest): Promise<ReceiveResult> {
  // Checked first: refusing a delivery must not slow down the others.
  if (isOverloaded(intake)) return { outcome: "unavailable", cause: "overloaded" };
  const { secrets, format } = intake.slots[slot];
  const adapter = intake.adapters.of(format);
  if (secrets.length === 0) return { outcome: "refused", problem: "no secret configured" };
  const problem = adapter.verify(request, {
    secrets,
    nowSeconds: Date.now() / 1000,
    toleranceSeconds: intake.toleranceSeconds,
  });
  if (problem) return { outcome: "refused", problem };

  const event = identify(intake, adapter, slot, request);
  if ("outcome" in event) return event;
  return answeredInTime(ingest(intake, event, "delivery"));
}

export type IdentifiedEvent = {
  slot: Slot;
  adapter: Adapter;
  identity: EventIdentity;
  rawBody: Buffer;
  reading: ReadEvent["reading"];
};

/** Identifies and parses a verified body. */
export function identify(
  intake: Pick<Intake, "log">,
  adapter: Adapter,
  slot: Slot,
  request: SignedRequest,
): IdentifiedEvent | Extract<ReceiveResult, { outcome: "invalid" }> {
  try {
    const body = parsePayload(request.rawBody);
    const identity = adapter.identify(request, body);
    return {
      slot,
      adapter,
      identity,
      rawBody: request.rawBody,
      reading: readEvent(intake, adapter, identity.eventType, body),
    };
  } catch (error) {
    if (error instanceof InvalidPayload) return { outcome: "invalid", problem: error.message };
    throw error;
  }
}

/**
 * Ingests a verified event, unless this process is already working on it. Resolves when its result is
 * durable.
 */
export function ingest(
  intake: Intake,
  { slot, adapter, identity, rawBody, reading }: IdentifiedEvent,
  source: NewDelivery["source"],
): PendingResult<ReceiveResult> {
  const startedAtMs = performance.now();
  const delivery: NewDelivery = {
    provider: slot,
    ...identity,
    format: adapter.format,
    occurredAtMicros: "event" in reading ? reading.event.occurredAtMicros : null,
    source,
    payload: rawBody,
  };
  const key = keyOf(delivery);
  const { result, stopWaiting } = intake.inProcess.share(key, (isAwaited) => {
    const event: IncomingEvent = { slot, reading, delivery, key, startedAtMs, isAwaited };
    const span = intake.tracing?.active();
    if (span) event.span = span;
    if (intake.recent.has(key)) return receiveRepeat(intake, event);
    return adapter.traits.claimsFirst ? claimAndApply(intake, event) : intake.deliveries.submit(event);
  });
  return { result: result.then((outcome) => resultOf(adapter, outcome)), stopWaiting };
}

/** After a failover the event may be gone: then the claim ingests it. */
async function receiveRepeat(intake: Intake, event: IncomingEvent): Promise<ReceivedOutcome> {
  return (await intake.repeats.submit(event)) ?? claimAndApply(intake, event);
}

function resultOf(adapter: Adapter, outcome: ReceivedOutcome): ReceiveResult {
  switch (outcome.outcome) {
    case "unavailable":
      return { outcome: "unavailable", cause: "database" };
    case "failed":
      return { ...outcome, outcome: adapter.traits.acknowledgesFailures ? "deferred" : "failed" };
    default:
      return outcome;
  }
}

function answeredInTime({ result, stopWaiting }: PendingResult<ReceiveResult>): Promise<ReceiveResult> {
  return new Promise((resolve, reject) => {
    let isWaiting = true;
    const stop = () => {
      if (isWaiting) stopWaiting();
      isWaiting = false;
    };
    const timer = setTimeout(() => {
      stop();
      resolve({ outcome: "unavailable", cause: "too slow" });
    }, ANSWER_WITHIN_MS);
    result
      .finally(() => {
        clearTimeout(timer);
        stop();
      })
      .then(resolve, reject);
  });
}
