import { ADAPTERS } from "../../providers/registry.ts";
import type { ProviderSlot } from "../server/provider-slot.ts";
import type { QueuedEvent } from "../server/state.ts";
import { corruptDelivery, type Signing, signDelivery } from "./corruption.ts";
import { type DeliveryPolicy, MINUTE_SECONDS } from "./policy.ts";
import { openSender, type WebhookResponse } from "./sender.ts";

export type WebhookDispatcher = {
  /** Called when there may be something to deliver, or the clock has moved. */
  wake(): void;
  /** Resolves when no event waits any more. */
  settled(): Promise<void>;
  /** Abandons running deliveries: they are repeated after the next start. */
  close(): void;
};

export type DispatcherOptions = {
  /** An invalid URL means that it is not known yet. */
  deliverTo(): string;
  /** `null`: the provider's own timeout. */
  answerWithinMs: number | null;
  /** Called when an outcome is to be stored. */
  changed(): void;
};

const RETRY_UNKNOWN_TARGET_MS = 500;
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Delivers a slot's events as its provider does. */
export function startDispatcher(slot: ProviderSlot, options: DispatcherOptions): WebhookDispatcher {
  const { state } = slot;
  const policy = slot.traits.delivery;
  const sender = openSender("http://127.0.0.1", options.answerWithinMs ?? policy.answerWithinMs);
  const underWay = new Set<number>();
  let waiting: (() => void)[] = [];
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  function wake(): void {
    if (isClosed) return;
    clearTimeout(timer);
    while (underWay.size < policy.concurrency) {
      const open = state.events.filter((event) => isWaiting(event) && !underWay.has(event.number));
      const event = open.find((candidate) => candidate.dueAtMs <= slot.nowMs() && !isBlocked(candidate));
      if (event) {
        underWay.add(event.number);
        void deliver(event);
        continue;
      }
      const waitMs = Math.min(...open.map(({ dueAtMs }) => dueAtMs)) - slot.nowMs();
      // A blocked event is checked again when the event before it is done.
      const isBlockedOnly = waitMs <= 0 && underWay.size > 0;
      if (open.length > 0 && !isBlockedOnly)
        timer = setTimeout(wake, Math.min(Math.max(waitMs, 1), MAX_TIMER_MS)).unref();
      break;
    }
    if (underWay.size === 0 && !state.events.some(isWaiting)) {
      for (const settle of waiting.splice(0)) settle();
    }
  }

  function isBlocked(event: QueuedEvent): boolean {
    if (policy.order === "unordered") return false;
    const youngSinceMs = slot.nowMs() - (MINUTE_SECONDS * 1_000) / slot.timeScale;
    return state.events.some(
      (earlier) =>
        earlier.number < event.number &&
        isWaiting(earlier) &&
        !earlier.isHeldBack &&
        earlier.tries.length === 0 &&
        // An attempt ends long before its event is a minute old, unless the clock is moved meanwhile.
        (underWay.has(earlier.number) || earlier.madeAtMs > youngSinceMs),
    );
  }

  async function deliver(event: QueuedEvent): Promise<void> {
    const address = URL.parse(options.deliverTo())?.href ?? null;
    // The receiver has not started yet: not counted as a failure.
    if (address === null) {
      event.dueAtMs = slot.nowMs() + RETRY_UNKNOWN_TARGET_MS;
      underWay.delete(event.number);
      return;
    }
    const copies = Array.from({ length: 1 + event.copies }, () => post(event, address));
    const results = await Promise.all(copies);
    if (isClosed) return;
    underWay.delete(event.number);
    recordOutcome(event, results);
    options.changed();
    wake();
  }

  async function post(event: QueuedEvent, address: string): Promise<WebhookResponse> {
    const rawBody = Buffer.from(event.rawBody);
    const signing: Signing = {
      traits: slot.traits,
      adapter: ADAPTERS.of(slot.state.format),
      secret: state.secret,
      nowSeconds: Math.floor(Date.now() / 1_000),
      eventId: event.eventId,
      eventType: event.eventType,
    };
    const delivery =
      event.corruption === null
        ? signDelivery(rawBody, signing)
        : corruptDelivery(event.corruption, rawBody, signing);
    return sender.post(address, delivery);
  }

  function recordOutcome(event: QueuedEvent, results: readonly WebhookResponse[]): void {
    const { accepts, waitsSeconds, disablesAfterExhausted } = policy;
    const isAccepted = results.every(({ status }) => status !== "lost" && accepts(status));
    for (const result of results) event.tries.push(tryOf(result, accepts));
    event.corruption = null;
    event.copies = 0;
    for (const earlier of state.events) if (earlier.number < event.number) release(earlier);
    if (isAccepted) {
      state.endpoint.exhaustedInARow = 0;
      event.status = "delivered";
      event.failures = 0;
      return;
    }
    event.failures += 1;
    const waitSeconds = waitsSeconds[event.failures - 1];
    if (waitSeconds !== undefined) {
      event.dueAtMs = slot.nowMs() + (waitSeconds * 1_000) / slot.timeScale;
      return;
    }
    event.status = "given up";
    state.endpoint.exhaustedInARow += 1;
    if (disablesAfterExhausted !== null && state.endpoint.exhaustedInARow >= disablesAfterExhausted)
      disableEndpoint();
  }

  function release(event: QueuedEvent): void {
    if (!event.isHeldBack) return;
    event.isHeldBack = false;
    event.dueAtMs = slot.nowMs();
  }

  function disableEndpoint(): void {
    state.endpoint.isDisabled = true;
    for (const event of state.events) if (isWaiting(event)) event.status = "skipped";
  }

  return {
    wake,
    settled: () =>
      new Promise((resolve) => {
        waiting = [...waiting, resolve];
        wake();
      }),
    close: () => {
      isClosed = true;
      clearTimeout(timer);
      sender.close();
      for (const settle of waiting.splice(0)) settle();
    },
  };
}

function isWaiting({ status }: QueuedEvent): boolean {
  return status === "waiting";
}

function tryOf(
  { status, tookMs, ...result }: WebhookResponse,
  accepts: DeliveryPolicy["accepts"],
): QueuedEvent["tries"][number] {
  const detail = "reason" in result ? result.reason : JSON.stringify("body" in result ? result.body : {});
  return {
    atMs: Date.now() - Math.round(tookMs),
    tookMs: Math.round(tookMs),
    outcome: `${status === "lost" ? "no response:" : status} ${detail}`.slice(0, 300),
    wasTaken: status !== "lost" && accepts(status),
  };
}
