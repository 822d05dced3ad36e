import { backOffSeconds } from "../domain/deliveries/delivery.ts";
import { OUTBOUND_FAILURES } from "../domain/outbound/outbound-failure.ts";
import type { AfterSubscriptionChange } from "../domain/outbound/subscription-hook.ts";
import type { ClaimedDelivery } from "../store/outbound/claim-outbound-deliveries.ts";
import type { AttemptResult, FinishedAttempt } from "../store/outbound/record-outbound-attempts.ts";
import { callAfterHook } from "./call-after-hook.ts";
import { outboundEvent } from "./event-body.ts";
import type { OutboundMilestone } from "./milestone.ts";
import { type PostOptions, postEvent } from "./post-event.ts";

/** An attempt that starts later than this might outlast its lease. */
const START_WITHIN_MS = 20_000;

export type AttemptOptions = PostOptions & {
  /** Plugins' functions, by the plugin's name. */
  hooks: ReadonlyMap<string, AfterSubscriptionChange>;
  log: { warn(facts: object, message: string): void };
  /** Called with the outcome of each attempt. */
  observe?: (outcome: "delivered" | "failed") => void;
  reached?: (milestone: OutboundMilestone) => void | Promise<void>;
};

/**
 * Sends a delivery. `null`: too long after the claim, so that another process may be sending it, or the one
 * after it.
 */
export async function makeAttempt(
  options: AttemptOptions,
  delivery: ClaimedDelivery,
  claimedAtMs: number,
): Promise<FinishedAttempt | null> {
  await options.reached?.("delivery claimed");
  if (performance.now() - claimedAtMs > START_WITHIN_MS) return null;
  const result = await send(options, delivery);
  options.observe?.(result.isDelivered ? "delivered" : "failed");
  await options.reached?.("delivery sent");
  return { delivery, result, retryInSeconds: backOffSeconds(delivery.attempts, Math.random()) };
}

async function send(options: AttemptOptions, delivery: ClaimedDelivery): Promise<AttemptResult> {
  const { hook, url, event, secrets } = delivery;
  if (event === null) return notKept();
  if (hook !== null) return callAfterHook({ ...options, call: options.hooks.get(hook) }, hook, event);
  return postEvent(
    { url: url as string, secrets },
    { id: event.id, body: JSON.stringify(outboundEvent(event)) },
    options,
  );
}

function notKept(): AttemptResult {
  return { isDelivered: false, durationMs: 0, responseStatus: null, error: OUTBOUND_FAILURES.not_stored };
}
