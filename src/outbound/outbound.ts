import { setTimeout as sleep } from "node:timers/promises";
import type { AccessContext } from "../domain/entitlements/granted-access.ts";
import { SUBSCRIPTION_EVENT_TYPES } from "../domain/outbound/outbound-event.ts";
import { disableFailingEndpoints } from "../store/outbound/failing-endpoints.ts";
import { registerHooks } from "../store/outbound/hook-endpoints.ts";
import { relistPacks } from "../store/outbound/relist-packs.ts";
import { isAnythingWritten } from "../store/outbound/written-events.ts";
import { createDispatcher, type DispatcherOptions } from "./dispatcher.ts";
import { type Relay, relayBatch, relayEvents } from "./relay.ts";
import type { RelayThread } from "./relay-thread.ts";

export type Outbound = {
  /** Relays and sends until nothing is due; waits for the responses. */
  runNow(): Promise<"ok" | "failed">;
  /** Finishes what is being sent. */
  stop(): Promise<void>;
};

export type OutboundOptions = DispatcherOptions &
  AccessContext &
  Pick<Relay, "onUnreadable"> & {
    /** `request`: events are sent by `runNow` alone. */
    runsOn: "timer" | "request";
    /** Relays backlogs of more than a few changes; `null`: this thread relays everything. */
    relayThread: RelayThread | null;
  };

const EVERY_MS = 200;
/** What a pass relays in this thread, and the rest of the transaction that made the last of them. */
const FEW_CHANGES = 50;
const THREAD_AGAIN_AFTER_MS = 60_000;
const HOUR_MS = 60 * 60 * 1000;

/**
 * Relays and sends events until this process stops. Not a job with a lease: any process may send, each
 * delivery is claimed by one, and a process that is stopped must not hold up the others.
 */
export function startOutbound(options: OutboundOptions): Outbound {
  const dispatcher = createDispatcher(options);
  const stopping = new AbortController();
  const hooks = [...options.hooks.keys()];
  let registerAtMs = 0;
  let hourlyAtMs = 0;
  const isStopping = () => stopping.signal.aborted;
  let threadFromMs = 0;
  const relay = async (): Promise<void> => {
    const { relayThread } = options;
    if (relayThread === null || performance.now() < threadFromMs) {
      await relayEvents(options, isStopping);
      return;
    }
    const { isLast } = await relayBatch(options, FEW_CHANGES);
    if (isLast || !(await isAnythingWritten(options.database))) return;
    try {
      await relayThread.relay();
    } catch (err) {
      if (isStopping()) return;
      // For instance because PostgreSQL takes no further connection.
      options.log.warn({ err }, "the relay's thread failed: for a minute the main thread relays");
      threadFromMs = performance.now() + THREAD_AGAIN_AFTER_MS;
      await relayEvents(options, isStopping);
    }
  };
  const pass = async () => {
    if (hooks.length > 0 && performance.now() >= registerAtMs) {
      await registerHooks(options.database, hooks, SUBSCRIPTION_EVENT_TYPES);
      registerAtMs = performance.now() + HOUR_MS;
    }
    if (performance.now() >= hourlyAtMs) {
      hourlyAtMs = performance.now() + HOUR_MS;
      await disableFailingEndpoints(options.database);
      await relistPacks(options.database);
    }
    if (await isAnythingWritten(options.database)) await relay();
    return dispatcher.dispatch();
  };
  const loop = async () => {
    let isFailing = false;
    while (!isStopping()) {
      try {
        await pass();
        isFailing = false;
      } catch (err) {
        // Once, not five times a second while the database is away.
        if (!isFailing)
          options.log.warn({ err }, "outbound events wait: they are sent once the database answers");
        isFailing = true;
      }
      await sleep(EVERY_MS, undefined, { signal: stopping.signal }).catch(() => {});
    }
  };
  const looping = options.runsOn === "timer" ? loop() : Promise.resolve();
  return {
    runNow: async () => {
      try {
        while ((await pass()) > 0) await dispatcher.idle();
        return "ok";
      } catch (err) {
        options.log.warn({ err }, "outbound events could not be sent");
        return "failed";
      }
    },
    stop: async () => {
      stopping.abort();
      await Promise.all([looping, options.relayThread?.stop()]);
      await dispatcher.stop();
    },
  };
}
