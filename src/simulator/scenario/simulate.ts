import { setTimeout as sleep } from "node:timers/promises";
import type { Adapter } from "../../providers/adapter.ts";
import { corruptDelivery, type Signing, signDelivery } from "../delivery/corruption.ts";
import { openSender, type WebhookResponse } from "../delivery/sender.ts";
import type { SubscriptionIds } from "../renderer.ts";
import type { Simulation } from "./prepare.ts";
import { limitRate } from "./rate.ts";
import type { Lifecycle, LifecycleStep } from "./scenario.ts";
import type { ScheduledDelivery } from "./schedule.ts";
import { outcomeOf, type Stats } from "./stats.ts";

export type SendOptions = {
  /** Where the server listens, e.g. `http://127.0.0.1:3000`. */
  url: string;
  adapter: Adapter;
  secret: string;
  concurrency: number;
  /** Deliveries per second; `null`: unlimited. */
  rate: number | null;
};

export type Sent = {
  seconds: number;
  /** Lifecycles with an event that had to be sent again and may have been applied late. */
  disturbed: ReadonlySet<number>;
  /** The kinds of corruption that the server did not reject. */
  accepted: string[];
};

/** A correctly signed delivery got a response that makes it pointless to continue. */
export class TargetRejectedError extends Error {
  override name = "TargetRejectedError";
}

const TRIES = 10;
const FIRST_WAIT_MS = 100;
const MAX_WAIT_MS = 5_000;

/** Sends the whole schedule and counts the outcomes in `stats`. @throws TargetRejectedError */
export async function simulate(simulation: Simulation, options: SendOptions, stats: Stats): Promise<Sent> {
  const sender = openSender(options.url);
  const waitForTurn = limitRate(options.rate);
  const totals = { disturbed: new Set<number>(), accepted: [] as string[] };
  let stopped = false;
  const startedAt = performance.now();

  async function work(): Promise<void> {
    for (
      let delivery = simulation.schedule.next();
      delivery && !stopped;
      delivery = simulation.schedule.next()
    ) {
      await send(delivery);
      simulation.schedule.completed(delivery);
    }
  }

  async function send(delivery: ScheduledDelivery): Promise<void> {
    const copies = delivery.as === "twice at once" ? 2 : 1;
    await Promise.all(
      Array.from({ length: copies }, async () => {
        await waitForTurn();
        const { result, tries } = await sendUntilAccepted(delivery);
        if (tries > 1) totals.disturbed.add(delivery.lifecycle);
        record(delivery, result);
      }),
    );
  }

  /** Retries what was not accepted, with growing pauses and new signatures, as providers do. */
  async function sendUntilAccepted(
    delivery: ScheduledDelivery,
  ): Promise<{ result: WebhookResponse; tries: number }> {
    const path = `/api/webhooks/${simulation.slot}`;
    for (let tries = 1; ; tries += 1) {
      const result = await sender.post(path, deliveryOf(simulation, delivery, options));
      stats.tookMs.push(result.tookMs);
      if (outcomeOf(result) !== "unavailable" || tries >= TRIES) return { result, tries };
      stats.retried += 1;
      await sleep(Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (tries - 1)));
    }
  }

  function record(delivery: ScheduledDelivery, result: WebhookResponse): void {
    const outcome = outcomeOf(result);
    stats.sent += 1;
    if (outcome) stats[outcome] += 1;
    if (delivery.as === "corrupted") {
      if (outcome !== "refused" && outcome !== "unavailable") totals.accepted.push(delivery.corruption);
    } else if (outcome === null || outcome === "refused") {
      throw new TargetRejectedError(
        `${result.status} ${"body" in result ? JSON.stringify(result.body) : ""}`,
      );
    }
  }

  const workers = Array.from({ length: options.concurrency }, async () => {
    try {
      await work();
    } catch (error) {
      stopped = true;
      throw error;
    }
  });
  const ends = await Promise.allSettled(workers);
  sender.close();
  const failed = ends.find((end) => end.status === "rejected");
  if (failed) throw failed.reason;
  return { ...totals, seconds: (performance.now() - startedAt) / 1_000 };
}

function deliveryOf(simulation: Simulation, delivery: ScheduledDelivery, { adapter, secret }: SendOptions) {
  const lifecycle = simulation.lifecycles[delivery.lifecycle] as Lifecycle;
  const { eventId, eventType, body } = simulation.provider.renderer.render({
    lifecycle,
    step: lifecycle.steps[delivery.at] as LifecycleStep,
    at: delivery.at,
    ids: simulation.ids[delivery.lifecycle] as SubscriptionIds,
    run: simulation.run,
  });
  const rawBody = Buffer.from(JSON.stringify(body));
  const signing: Signing = {
    adapter,
    secret,
    traits: simulation.provider.traits,
    nowSeconds: Date.now() / 1_000,
    eventId,
    eventType,
  };
  return delivery.as === "corrupted"
    ? corruptDelivery(delivery.corruption, rawBody, signing)
    : signDelivery(rawBody, signing);
}
