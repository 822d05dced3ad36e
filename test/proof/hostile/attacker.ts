import { parentPort, workerData } from "node:worker_threads";
import { attacks } from "./attacks.ts";

/**
 * Runs all attacks at their rates until it is stopped, in a thread of its own: it must not delay the
 * measurements.
 */
export type AttackerData = { url: string; stolen: { headers: Record<string, string>; body: string } };

/** How often each attack got each status; 0: closed without a response. */
export type AttackerReport = Record<string, Record<number, number>>;

const MAX_RUNNING = 400;

const { url, stolen } = workerData as AttackerData;
const report: AttackerReport = {};
let running = 0;

const timers = attacks(stolen).map(({ name, rate, attempt }) => {
  report[name] = {};
  const statuses = report[name];
  return setInterval(async () => {
    if (running >= MAX_RUNNING) return;
    running += 1;
    const status = await attempt(url);
    statuses[status] = (statuses[status] ?? 0) + 1;
    running -= 1;
  }, 1_000 / rate);
});

parentPort?.once("message", () => {
  for (const timer of timers) clearInterval(timer);
  const finish = setInterval(() => {
    if (running > 0) return;
    clearInterval(finish);
    parentPort?.postMessage(report);
  }, 50);
});
