import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "../store/database.ts";
import {
  type ClaimedDelivery,
  claimOutboundDeliveries,
  withPackedEvents,
} from "../store/outbound/claim-outbound-deliveries.ts";
import { type FinishedAttempt, recordAttempts } from "../store/outbound/record-outbound-attempts.ts";
import { inTransaction, type TransactionOptions } from "../store/transaction.ts";
import { type EventReader, logUnreadablePacks } from "./list-events-after.ts";
import { type AttemptOptions, makeAttempt } from "./make-attempt.ts";
import type { Allowance } from "./yield-to-intake.ts";

/** Concurrent attempts per endpoint and process: a slow endpoint delays only its own events. */
const MAX_CONCURRENT = 8;
/** Longer than an attempt may take. */
const LEASE_SECONDS = 45;
/** How long a finished attempt waits for others to be recorded together with it. */
const RECORD_WITHIN_MS = 20;
/**
 * While sending yields to the intake: the next pass comes sooner, and records it with the claims that it
 * makes.
 */
const YIELDING_RECORD_WITHIN_MS = 300;

const LIMITS: TransactionOptions = {
  synchronousCommit: "on",
  lockTimeoutMs: 5_000,
  statementTimeoutMs: 10_000,
  idleTimeoutMs: 5_000,
};

export type SenderOptions = AttemptOptions & {
  database: Database;
  log: AttemptOptions["log"] & EventReader["log"];
  leaseSeconds?: number;
  allowance: Allowance;
  isStopped(): boolean;
  /** Called with each delivery that is not tried again. */
  gaveUp?: (delivery: GivenUpDelivery) => void;
};

export type GivenUpDelivery = {
  endpointId: string;
  deliveryId: string;
  /** `null`: no longer stored. */
  eventId: string | null;
  /** Whose hook it was for; `null`: for an endpoint. */
  plugin: string | null;
  error: string | null;
};

/** Sends what one endpoint is due. */
export type EndpointSender = {
  /** Records what has ended and starts what is due. Returns how many were started. */
  proceed(): Promise<number>;
  /** Resolves when nothing is being sent and everything is recorded. */
  idle(): Promise<void>;
  isIdle(): boolean;
};

export function createEndpointSender(options: SenderOptions, endpointId: string): EndpointSender {
  const { database, log, allowance } = options;
  const running = new Set<Promise<unknown>>();
  let sending = 0;
  let ended: FinishedAttempt[] = [];
  let isProceeding = false;
  let waiting: AbortController | null = null;

  /** In one transaction: several attempts and the claims that follow them share one commit. */
  const recordAndClaim = async (outcomes: readonly FinishedAttempt[], limit: number) => {
    const claim = { limit, leaseSeconds: options.leaseSeconds ?? LEASE_SECONDS };
    if (outcomes.length === 0) return claimOutboundDeliveries(database, endpointId, claim);
    return inTransaction(database, LIMITS, async (transaction) => {
      const [locking, recording, ordering] = recordAttempts(transaction, endpointId, outcomes);
      // After the attempts were recorded: now the next delivery of each subject is due.
      const claiming =
        limit > 0 ? claimOutboundDeliveries(transaction, endpointId, claim) : Promise.resolve([]);
      await transaction.commitAfter([locking, recording, ordering, claiming]);
      reportGivenUp(outcomes, await recording);
      return claiming;
    });
  };
  const reportGivenUp = (outcomes: readonly FinishedAttempt[], givenUp: readonly { id: string }[]) => {
    if (givenUp.length === 0 || options.gaveUp === undefined) return;
    const ids = new Set(givenUp.map(({ id }) => id));
    for (const { delivery, result } of outcomes) {
      const { id: deliveryId, hook: plugin, event } = delivery;
      if (!ids.has(deliveryId)) continue;
      const eventId = event?.id ?? null;
      options.gaveUp({ endpointId, deliveryId, eventId, plugin, error: result.error });
    }
  };
  const proceed = async (): Promise<number> => {
    if (isProceeding) return 0;
    waiting?.abort();
    waiting = null;
    const outcomes = ended;
    const limit = options.isStopped() ? 0 : allowance.take(MAX_CONCURRENT - sending);
    if (outcomes.length === 0 && limit === 0) return 0;
    ended = [];
    isProceeding = true;
    const claimedAtMs = performance.now();
    try {
      const claimed = await withPackedEvents(database, await recordAndClaim(outcomes, limit), (packs) =>
        logUnreadablePacks(log, packs),
      );
      for (const _ of outcomes) await options.reached?.("delivery recorded");
      for (const delivery of claimed) start(delivery, claimedAtMs);
      return claimed.length;
    } finally {
      isProceeding = false;
      proceedWhenWorthwhile();
    }
  };
  const proceedWhenWorthwhile = () => {
    if (isProceeding || ended.length === 0) return;
    const isYielding = allowance.isYielding();
    if (!isYielding && (sending === 0 || ended.length >= MAX_CONCURRENT / 2)) track(proceedOrWarn());
    else if (waiting === null) proceedAfter(isYielding ? YIELDING_RECORD_WITHIN_MS : RECORD_WITHIN_MS);
  };
  const proceedAfter = (ms: number) => {
    waiting = new AbortController();
    // Aborted by whatever proceeds before.
    track(sleep(ms, undefined, { signal: waiting.signal }).then(proceedOrWarn, () => {}));
  };
  const proceedOrWarn = () =>
    proceed().catch((err) =>
      log.warn({ err, endpointId }, "outbound attempts could not be recorded, or the next ones claimed"),
    );
  const start = (delivery: ClaimedDelivery, claimedAtMs: number) => {
    sending += 1;
    const attempt = makeAttempt(options, delivery, claimedAtMs)
      .catch((err) => log.warn({ err, deliveryId: delivery.id }, "an outbound attempt failed"))
      .then((outcome) => {
        sending -= 1;
        if (outcome) ended.push(outcome);
        proceedWhenWorthwhile();
      });
    track(attempt);
  };
  const track = (work: Promise<unknown>) => {
    running.add(work);
    void work.then(() => running.delete(work));
  };
  return {
    proceed: () => {
      const started = proceed();
      track(started.catch(() => {}));
      return started;
    },
    idle: async () => {
      while (running.size > 0) await Promise.all(running);
    },
    isIdle: () => running.size === 0,
  };
}
