import { parentPort, workerData } from "node:worker_threads";
import { openDatabase } from "../store/database.ts";
import type { UnreadableSet } from "../store/outbound/written-events.ts";
import type { OutboundMilestone } from "./milestone.ts";
import { relayEvents } from "./relay.ts";
import type { FromWorker, RelayWorkerData, ToWorker } from "./relay-thread.ts";

// The entry point of the relay's thread, see `relay-thread.ts`.
const { connecting, reportsMilestones, ...context } = workerData as RelayWorkerData;
const port = parentPort;
if (port === null) throw new Error("this module is the entry point of a thread");

const database = openDatabase({ ...connecting, maxConnections: 1 });
const post = (message: FromWorker) => port.postMessage(message);
let isStopping = false;
let relaying: Promise<void> = Promise.resolve();
let resume = () => {};

const reached = (milestone: OutboundMilestone) =>
  new Promise<void>((resolve) => {
    resume = resolve;
    post({ reached: milestone });
  });

port.on("message", (message: ToWorker) => {
  if (message === "resume") resume();
  else if (message === "relay") relaying = relay();
  else void stop();
});

async function relay(): Promise<void> {
  try {
    const onUnreadable = (unreadable: readonly UnreadableSet[]) => post({ unreadable });
    const relay = { database, ...context, onUnreadable, ...(reportsMilestones ? { reached } : {}) };
    await relayEvents(relay, () => isStopping);
    post({ relayed: true });
  } catch (error) {
    const { name, message, stack, code } = error as Error & { code?: unknown };
    post({ relayed: false, error: { name, message, stack, code } });
  }
}

async function stop(): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  await relaying;
  await database.close();
  // Ends this thread alone. A connection to a host that has vanished would keep it for minutes.
  process.exit();
}
