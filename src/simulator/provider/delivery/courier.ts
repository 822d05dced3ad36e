import { ADAPTERS } from "../../../providers/formats.ts";
import { damaged, type Signing, signed } from "../../damage.ts";
import { type Answer, openSender } from "../../sender.ts";
import type { Shop } from "../shop.ts";
import type { Dispatch } from "../state.ts";
import { POLICIES, type Policy } from "./policy.ts";

export type Courier = {
  /** To be told when there may be something to deliver, or the clock has moved. */
  wake(): void;
  /** Resolves when nothing waits to be delivered any more. */
  settled(): Promise<void>;
  /** Lets go of what is under way: it is delivered again after the next start. */
  close(): void;
};

export type CourierOptions = {
  /** No URL: not known yet, to be asked again. */
  deliverTo(): string;
  /** `null`: as long as the provider waits. */
  answerWithinMs: number | null;
  /** To be told when an outcome is to be kept. */
  changed(): void;
};

const ASKS_AGAIN_AFTER_MS = 500;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Delivers a slot's events as its provider does. */
export function startCourier(shop: Shop, options: CourierOptions): Courier {
  const { state } = shop;
  const policy = POLICIES[state.format];
  const sender = openSender("http://127.0.0.1", options.answerWithinMs ?? policy.answerWithinMs);
  const underWay = new Set<number>();
  let waiting: (() => void)[] = [];
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  function wake(): void {
    if (isClosed) return;
    clearTimeout(timer);
    while (underWay.size < policy.atOnce) {
      const line = lineOf(state.events, policy, underWay);
      const event = line.find(({ dueAtMs }) => dueAtMs <= shop.nowMs());
      if (event) {
        underWay.add(event.number);
        void deliver(event);
        continue;
      }
      const waitMs = Math.min(...line.map(({ dueAtMs }) => dueAtMs)) - shop.nowMs();
      if (line.length > 0) timer = setTimeout(wake, Math.min(Math.max(waitMs, 1), LONGEST_TIMER_MS)).unref();
      break;
    }
    if (underWay.size === 0 && !state.events.some(isWaiting)) {
      for (const settle of waiting.splice(0)) settle();
    }
  }

  async function deliver(event: Dispatch): Promise<void> {
    const address = addressOf();
    // Whoever is to get it is not there yet: that is no failure of its endpoint's.
    if (address === null) {
      event.dueAtMs = shop.nowMs() + ASKS_AGAIN_AFTER_MS;
      underWay.delete(event.number);
      return;
    }
    // At least once, and now and then twice at once; in a strict order, the second one comes after the first.
    const atOnce = policy.order === "as they come" ? 1 + event.copies : 1;
    const copies = Array.from({ length: atOnce }, () => post(event, address));
    const answers = await Promise.all(copies);
    if (isClosed) return;
    underWay.delete(event.number);
    settleEvent(event, answers, policy);
    options.changed();
    wake();
  }

  function addressOf(): string | null {
    try {
      return new URL(options.deliverTo()).href;
    } catch {
      return null;
    }
  }

  async function post(event: Dispatch, address: string): Promise<Answer> {
    const rawBody = Buffer.from(event.rawBody);
    const signing: Signing = {
      adapter: ADAPTERS[state.format],
      secret: state.secret,
      nowSeconds: Math.floor(Date.now() / 1_000),
      eventId: event.eventId,
      eventType: event.eventType,
    };
    const delivery =
      event.damage === null ? signed(rawBody, signing) : damaged(event.damage, rawBody, signing);
    return sender.post(address, delivery);
  }

  function settleEvent(
    event: Dispatch,
    answers: readonly Answer[],
    { accepts, waitsSeconds, order }: Policy,
  ): void {
    const wasTaken = answers.every(({ status }) => status !== "lost" && accepts(status));
    for (const answer of answers) event.tries.push(tryOf(answer, accepts));
    event.damage = null;
    if (wasTaken) {
      state.endpoint.failuresInARow = 0;
      const isRepeated = order === "first in, first out" && event.copies > 0;
      if (isRepeated) event.copies -= 1;
      event.status = isRepeated ? "waiting" : "delivered";
      event.failures = 0;
      for (const held of state.events) if (held.number < event.number) release(held);
      return;
    }
    event.copies = 0;
    event.failures += 1;
    state.endpoint.failuresInARow += 1;
    const waitSeconds = waitsSeconds[event.failures - 1];
    if (waitSeconds === undefined) event.status = "given up";
    else event.dueAtMs = shop.nowMs() + (waitSeconds * 1_000) / shop.haste;
    if (policy.disablesAfter !== null && state.endpoint.failuresInARow >= policy.disablesAfter) disable();
  }

  function release(held: Dispatch): void {
    if (!held.isHeldBack) return;
    held.isHeldBack = false;
    held.dueAtMs = shop.nowMs();
  }

  function disable(): void {
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

/** The events that may go as soon as they are due. */
function lineOf(
  events: readonly Dispatch[],
  { order }: Policy,
  underWay: ReadonlySet<number>,
): readonly Dispatch[] {
  const open = events.filter((event) => isWaiting(event) && !underWay.has(event.number));
  if (order === "as they come") return open;
  const first = open.find(({ isHeldBack }) => !isHeldBack);
  return [...(first ? [first] : []), ...open.filter(({ isHeldBack }) => isHeldBack)];
}

function isWaiting({ status }: Dispatch): boolean {
  return status === "waiting";
}

function tryOf({ status, tookMs, ...answer }: Answer, accepts: Policy["accepts"]): Dispatch["tries"][number] {
  const told = "reason" in answer ? answer.reason : JSON.stringify("body" in answer ? answer.body : {});
  return {
    atMs: Date.now() - Math.round(tookMs),
    tookMs: Math.round(tookMs),
    outcome: `${status === "lost" ? "no answer" : status} ${told}`.slice(0, 300),
    wasTaken: status !== "lost" && accepts(status),
  };
}
