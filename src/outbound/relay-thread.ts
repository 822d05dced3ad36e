import { Worker } from "node:worker_threads";
import type { AccessContext } from "../domain/entitlements/granted-access.ts";
import { perSlot } from "../domain/slot.ts";
import type { DatabaseOptions } from "../store/database.ts";
import type { UnreadableSet } from "../store/outbound/written-events.ts";
import type { OutboundMilestone } from "./milestone.ts";

export type RelayThread = {
  isRunning(): boolean;
  /**
   * Relays until nothing waits, after earlier calls, starting the thread if need be. After `stop` it does
   * nothing. @throws Error what relaying failed with, or that the thread has ended
   */
  relay(): Promise<void>;
  /** Ends the thread after the batch under way, or after 5 s. */
  stop(): Promise<void>;
};

export type RelayThreadOptions = AccessContext & {
  connecting: Pick<DatabaseOptions, "url" | "prepared" | "answerTimeoutMs">;
  reached?: (milestone: OutboundMilestone) => void | Promise<void>;
  /** See `Relay`. */
  onUnreadable?: (sets: readonly UnreadableSet[]) => void;
  /** After how long without work the thread ends, in milliseconds; by default 10 s. */
  idleMs?: number;
};

/** Copied to the thread: plain data. */
export type RelayWorkerData = AccessContext &
  Pick<RelayThreadOptions, "connecting"> & { reportsMilestones: boolean };

export type ToWorker = "relay" | "resume" | "stop";
export type FromWorker =
  | { relayed: true }
  | { relayed: false; error: PlainError }
  | { reached: OutboundMilestone }
  | { unreadable: readonly UnreadableSet[] };

/** Of a copied error only the message and the stack would be left. */
type PlainError = { name: string; message: string; stack: string | undefined; code: unknown };

const IDLE_MS = 10_000;
/** V8 would take up to 48 MB; a batch needs a few. */
const YOUNG_GENERATION_MB = 12;

/** A batch that is rolled back is relayed again; a host that has vanished keeps connections open for minutes. */
const STOP_WITHIN_MS = 5_000;

type PendingRelay = { resolve(): void; reject(error: unknown): void };

/**
 * Relays in a thread with a connection of its own. In the main one, webhooks would wait for each batch: to
 * read, complete and pack it takes several milliseconds.
 */
export function createRelayThread(options: RelayThreadOptions): RelayThread {
  const { idleMs = IDLE_MS } = options;
  let worker: Worker | null = null;
  let pending: PendingRelay | null = null;
  let last: Promise<unknown> = Promise.resolve();
  let idling: NodeJS.Timeout | undefined;
  let ended: Promise<unknown> = Promise.resolve();
  let isStopped = false;

  function settle(use: (pending: PendingRelay) => void): void {
    if (pending === null) return;
    use(pending);
    pending = null;
    if (!isStopped) idling = setTimeout(end, idleMs).unref();
  }

  function start(): Worker {
    const started = new Worker(new URL("./relay-worker.ts", import.meta.url), {
      name: "relay",
      workerData: workerDataOf(options),
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    });
    const onEnd = (error: unknown) => {
      // It may have been replaced already.
      if (worker !== started) return;
      worker = null;
      settle(({ reject }) => reject(error));
    };
    const resume = async (milestone: OutboundMilestone) => {
      try {
        await options.reached?.(milestone);
        started.postMessage("resume" satisfies ToWorker);
      } catch (error) {
        onEnd(error);
        await started.terminate();
      }
    };
    started.on("message", (message: FromWorker) => {
      if (worker !== started) return;
      if ("reached" in message) void resume(message.reached);
      else if ("unreadable" in message) options.onUnreadable?.(message.unreadable);
      else if (message.relayed) settle(({ resolve }) => resolve());
      else settle(({ reject }) => reject(Object.assign(new Error(), message.error)));
    });
    started.on("error", onEnd);
    started.on("exit", () => onEnd(new Error("the relay's thread has ended")));
    return started;
  }

  function end(): void {
    clearTimeout(idling);
    if (worker === null) return;
    const ending = worker;
    // Also after an error, with which `events.once` would reject.
    const exited = new Promise((resolve) => ending.once("exit", resolve));
    const timer = setTimeout(() => ending.terminate(), STOP_WITHIN_MS);
    ended = Promise.all([ended, exited.then(() => clearTimeout(timer))]);
    ending.postMessage("stop" satisfies ToWorker);
    if (pending === null) worker = null;
  }

  function relayOnce(): Promise<void> {
    return new Promise((resolve, reject) => {
      if (isStopped) return resolve();
      clearTimeout(idling);
      worker ??= start();
      pending = { resolve, reject };
      worker.postMessage("relay" satisfies ToWorker);
    });
  }

  return {
    isRunning: () => worker !== null,
    relay: () => {
      const relaying = last.then(relayOnce);
      last = relaying.catch(() => {});
      return relaying;
    },
    stop: async () => {
      isStopped = true;
      end();
      await ended;
    },
  };
}

/** Without what cannot be copied, such as functions. */
function workerDataOf({ connecting, reached, plans, traits }: RelayThreadOptions): RelayWorkerData {
  return {
    connecting,
    plans: { plans: plans.plans },
    traits: perSlot((slot) => ({
      pastDuePeriodEndsAtNextCharge: traits[slot].pastDuePeriodEndsAtNextCharge,
    })),
    reportsMilestones: reached !== undefined,
  };
}
