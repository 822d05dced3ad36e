import { Worker } from "node:worker_threads";
import type { AccessContext } from "../domain/granted-access.ts";
import { perSlot } from "../domain/slot.ts";
import type { DatabaseOptions } from "../store/database.ts";
import type { OutboundMilestone } from "./milestone.ts";

export type RelayThread = {
  isRunning(): boolean;
  /**
   * Relays until nothing waits, starting the thread if need be; one call at a time. After `stop` it does
   * nothing. @throws Error what relaying failed with, or that the thread has ended
   */
  relay(): Promise<void>;
  /** Ends the thread after the batch under way. */
  stop(): Promise<void>;
};

export type RelayThreadOptions = AccessContext & {
  connecting: Pick<DatabaseOptions, "url" | "prepared" | "answerTimeoutMs">;
  reached?: (milestone: OutboundMilestone) => void | Promise<void>;
  /** After how long without work the thread ends, in milliseconds; by default 10 s. */
  idleMs?: number;
};

/** Copied to the thread: plain data. */
export type RelayWorkerData = AccessContext &
  Pick<RelayThreadOptions, "connecting"> & { reportsMilestones: boolean };

export type ToWorker = "relay" | "go on" | "stop";
export type FromWorker =
  | { relayed: true }
  | { relayed: false; error: unknown }
  | { reached: OutboundMilestone };

const IDLE_MS = 10_000;
/** V8 would take up to 48 MB; a batch needs a few. */
const YOUNG_GENERATION_MB = 12;

type Waiting = { resolve(): void; reject(error: unknown): void };

/**
 * Relays in a thread with a connection of its own. In the main one, webhooks would wait for each batch: to
 * read, complete and pack it takes several milliseconds.
 */
export function createRelayThread(options: RelayThreadOptions): RelayThread {
  const { idleMs = IDLE_MS } = options;
  let worker: Worker | null = null;
  let waiting: Waiting | null = null;
  let idling: NodeJS.Timeout | undefined;
  let ended: Promise<unknown> = Promise.resolve();
  let isStopped = false;

  function settle(use: (waiting: Waiting) => void): void {
    if (waiting === null) return;
    use(waiting);
    waiting = null;
    if (!isStopped) idling = setTimeout(end, idleMs).unref();
  }

  function start(): Worker {
    const started = new Worker(new URL("./relay-worker.ts", import.meta.url), {
      name: "relay",
      workerData: workerDataOf(options),
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    });
    started.on("message", async (message: FromWorker) => {
      if ("reached" in message) {
        await options.reached?.(message.reached);
        started.postMessage("go on" satisfies ToWorker);
      } else if (message.relayed) settle(({ resolve }) => resolve());
      else settle(({ reject }) => reject(message.error));
    });
    const lost = (error: unknown) => {
      // It may have been replaced already.
      if (worker !== started) return;
      worker = null;
      settle(({ reject }) => reject(error));
    };
    started.on("error", lost);
    started.on("exit", () => lost(new Error("the relay's thread has ended")));
    return started;
  }

  function end(): void {
    clearTimeout(idling);
    if (worker === null) return;
    const ending = worker;
    // Also after an error, with which `events.once` would reject.
    const exited = new Promise((resolve) => ending.once("exit", resolve));
    ended = Promise.all([ended, exited]);
    ending.postMessage("stop" satisfies ToWorker);
    if (waiting === null) worker = null;
  }

  return {
    isRunning: () => worker !== null,
    relay: () =>
      new Promise((resolve, reject) => {
        if (isStopped) return resolve();
        clearTimeout(idling);
        waiting = { resolve, reject };
        worker ??= start();
        worker.postMessage("relay" satisfies ToWorker);
      }),
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
