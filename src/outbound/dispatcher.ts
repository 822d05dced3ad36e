import { backOffSeconds } from "../domain/delivery.ts";
import type { AfterSubscriptionChange } from "../domain/subscription-hook.ts";
import type { Tracing } from "../domain/tracing.ts";
import { type ClaimedDelivery, claimDeliveries, dueEndpoints } from "../store/claim-outbound-deliveries.ts";
import type { Database } from "../store/database.ts";
import { recordAttempt, type SendResult } from "../store/record-outbound-attempt.ts";
import { inTransaction, type TransactionOptions } from "../store/transaction.ts";
import type { OutboundAllow } from "./allowed-targets.ts";
import { callAfterHook } from "./call-after-hook.ts";
import { outboundEvent } from "./event-body.ts";
import type { OutboundMilestone } from "./milestone.ts";
import { postEvent } from "./post-event.ts";

/** At once, per endpoint and process: a slow endpoint holds up its own events alone. */
const MAX_CONCURRENT = 8;
/** Longer than an attempt may take. */
const LEASE_SECONDS = 45;
/** After this the lease may have run out before the attempt would be over. */
const START_WITHIN_MS = 20_000;

const LIMITS: TransactionOptions = {
  synchronousCommit: "on",
  lockTimeoutMs: 5_000,
  statementTimeoutMs: 10_000,
  idleTimeoutMs: 5_000,
};

/** Plugins' functions, by the plugin's name. */
type AfterHooks = ReadonlyMap<string, AfterSubscriptionChange>;

export type DispatcherOptions = {
  database: Database;
  allow: OutboundAllow;
  hooks: AfterHooks;
  log: { warn(facts: object, message: string): void };
  now: () => number;
  timeoutMs?: number;
  leaseSeconds?: number;
  tracing?: Tracing | null;
  /** Called with the outcome of each attempt. */
  observe?: (outcome: "delivered" | "failed") => void;
  reached?: (milestone: OutboundMilestone) => void | Promise<void>;
};

export type Dispatcher = {
  /** Starts sending what is due, without waiting for responses. Returns how many were started. */
  dispatch(): Promise<number>;
  /** Starts nothing new. Resolves when what was started is recorded. */
  stop(): Promise<void>;
  /** Resolves when nothing is being sent. */
  idle(): Promise<void>;
};

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { database, log } = options;
  const sending = new Map<string, number>();
  const running = new Set<Promise<void>>();
  let isStopped = false;

  const claimFor = async (endpointId: string): Promise<number> => {
    const free = MAX_CONCURRENT - (sending.get(endpointId) ?? 0);
    if (free <= 0 || isStopped) return 0;
    // Reserved before the claim is awaited: two passes must not fill the same places.
    sending.set(endpointId, MAX_CONCURRENT);
    let claimed: ClaimedDelivery[] = [];
    const claimedAtMs = performance.now();
    try {
      claimed = await claimDeliveries(database, endpointId, {
        limit: free,
        leaseSeconds: options.leaseSeconds ?? LEASE_SECONDS,
      });
    } finally {
      addSending(endpointId, claimed.length - free);
    }
    for (const delivery of claimed) start(delivery, claimedAtMs);
    return claimed.length;
  };
  const addSending = (endpointId: string, change: number) => {
    const count = (sending.get(endpointId) ?? 0) + change;
    if (count > 0) sending.set(endpointId, count);
    else sending.delete(endpointId);
  };
  const start = (delivery: ClaimedDelivery, claimedAtMs: number) => {
    const run = deliver(options, delivery, claimedAtMs)
      .catch((err) => log.warn({ err, deliveryId: delivery.id }, "an outbound attempt could not be recorded"))
      .then(() => addSending(delivery.endpointId, -1))
      // The next of the same subject is due now.
      .then(() => claimFor(delivery.endpointId))
      .catch((err) => log.warn({ err }, "outbound deliveries could not be claimed"))
      .then(() => void running.delete(run));
    running.add(run);
  };
  const idle = async () => {
    while (running.size > 0) await Promise.all(running);
  };
  return {
    dispatch: async () => {
      if (isStopped) return 0;
      const due = await dueEndpoints(database, [...options.hooks.keys()]);
      const started = await Promise.all(due.map(claimFor));
      return started.reduce((sum, count) => sum + count, 0);
    },
    stop: async () => {
      isStopped = true;
      await idle();
    },
    idle,
  };
}

async function deliver(
  options: DispatcherOptions,
  delivery: ClaimedDelivery,
  claimedAtMs: number,
): Promise<void> {
  await options.reached?.("delivery claimed");
  // The process was stopped meanwhile: another one may be sending it, or the event after it.
  if (performance.now() - claimedAtMs > START_WITHIN_MS) return;
  const result = await attempt(options, delivery);
  options.observe?.(result.isDelivered ? "delivered" : "failed");
  await options.reached?.("delivery sent");
  const retryInSeconds = backOffSeconds(delivery.attempts, Math.random());
  await inTransaction(options.database, LIMITS, (transaction) =>
    transaction.commitAfter(recordAttempt(transaction, delivery, result, retryInSeconds)),
  );
  await options.reached?.("delivery recorded");
}

async function attempt(options: DispatcherOptions, delivery: ClaimedDelivery): Promise<SendResult> {
  const { hook, url, event, secrets } = delivery;
  if (event === null) return notKept();
  if (hook !== null) return callAfterHook({ ...options, call: options.hooks.get(hook) }, hook, event);
  return postEvent(
    { url: url as string, secrets },
    { id: event.id, body: JSON.stringify(outboundEvent(event)) },
    options,
  );
}

function notKept(): SendResult {
  return { isDelivered: false, durationMs: 0, responseStatus: null, error: "the event is no longer stored" };
}
