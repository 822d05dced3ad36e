import { InvalidPayload } from "../domain/payload-problems.ts";
import type { EventIdentity } from "../domain/payment-event.ts";
import type { Slot } from "../domain/slot.ts";
import type { Adapter, SignedRequest } from "../providers/adapter.ts";
import type { NewDelivery } from "../store/deliveries.ts";
import type { ClaimedEvent } from "./claimed-event.ts";
import type { Intake, ReceiveResult } from "./intake.ts";
import { parsePayload } from "./payload.ts";
import { readEvent } from "./read.ts";

/** Providers give up on an answer after 5 to 10 s; what goes on after ours is found by their repeat. */
const ANSWER_WITHIN_MS = 4_500;
const MAX_WAITING_ITEMS = 20_000;
const MAX_WAITING_BYTES = 128 * 1024 * 1024;
const CLAIM_TRIES = 3;

/** Takes in one delivery: verify, parse, claim, apply. Resolves when what it answers is durable. */
export async function receive(intake: Intake, slot: Slot, request: SignedRequest): Promise<ReceiveResult> {
  const { secrets, format } = intake.slots[slot];
  const adapter = intake.adapters.of(format);
  if (secrets.length === 0) return { outcome: "refused", problem: "no secret configured" };
  const problem = adapter.verify(request, {
    secrets,
    nowSeconds: Date.now() / 1000,
    toleranceSeconds: intake.toleranceSeconds,
  });
  if (problem) return { outcome: "refused", problem };

  const delivery = identify(adapter, slot, request);
  if ("outcome" in delivery) return delivery;

  if (isOverloaded(intake)) return { outcome: "unavailable" };
  return answeredInTime(ingest(intake, delivery, "delivery"));
}

function isOverloaded({ claims, attempts }: Intake): boolean {
  const waiting = [claims.load(), attempts.load()] as const;
  return (
    waiting[0].items + waiting[1].items >= MAX_WAITING_ITEMS ||
    waiting[0].bytes + waiting[1].bytes >= MAX_WAITING_BYTES
  );
}

export type Identified = {
  slot: Slot;
  adapter: Adapter;
  identity: EventIdentity;
  text: string;
  reading: ClaimedEvent["reading"];
};

/** Which event a genuine body is, and what it means. */
export function identify(
  adapter: Adapter,
  slot: Slot,
  request: SignedRequest,
): Identified | Extract<ReceiveResult, { outcome: "invalid" }> {
  try {
    const { text, body } = parsePayload(request.rawBody);
    const identity = adapter.identify(request, body);
    return { slot, adapter, identity, text, reading: readEvent(adapter, identity.eventType, body) };
  } catch (error) {
    if (error instanceof InvalidPayload) return { outcome: "invalid", problem: error.message };
    throw error;
  }
}

/** Claims an event, unless somebody has it, and applies it. Resolves when what it answers is durable. */
export async function ingest(
  intake: Intake,
  { slot, adapter, identity, text, reading }: Identified,
  source: NewDelivery["source"],
): Promise<ReceiveResult> {
  const startedAtMs = performance.now();
  const delivery: NewDelivery = {
    provider: slot,
    ...identity,
    format: adapter.format,
    occurredAtMicros: "event" in reading ? reading.event.occurredAtMicros : null,
    source,
    payload: text,
  };
  for (let tries = 1; tries <= CLAIM_TRIES; tries += 1) {
    const claimed = await intake.claims.submit(delivery);
    if (claimed === "again") continue;
    if (claimed === "duplicate" || claimed === "unavailable") return { outcome: claimed };
    const attempt = await intake.attempts.submit({
      claim: claimed.claim,
      slot,
      source,
      reading,
      startedAtMs,
      bytes: delivery.payload.length,
    });
    if (attempt.outcome === "lost") return { outcome: "unavailable" };
    if (attempt.outcome !== "failed") return attempt;
    return {
      outcome: adapter.traits.acknowledgesFailures ? "deferred" : "failed",
      deliveryId: claimed.claim.id,
    };
  }
  return { outcome: "unavailable" };
}

async function answeredInTime(processing: Promise<ReceiveResult>): Promise<ReceiveResult> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<ReceiveResult>((resolve) => {
    timer = setTimeout(resolve, ANSWER_WITHIN_MS, { outcome: "unavailable" });
  });
  try {
    return await Promise.race([processing, late]);
  } finally {
    clearTimeout(timer);
  }
}
