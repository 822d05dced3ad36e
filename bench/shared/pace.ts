import { setTimeout as sleep } from "node:timers/promises";
import { interruption } from "./interruption.ts";
import type { Sender } from "./sender.ts";
import { quantile } from "./statistics.ts";

/** How long answers took from the moment at which their requests were due. */
export type Paced = {
  p50Ms: number;
  p99Ms: number;
  maxMs: number;
  /** How late the sender itself was, at the 99th percentile: part of the above. */
  senderLateMs: number;
};

/** Sends at a steady pace, whatever the answers. @throws BrokenMeasurement when one is not a 200 */
export async function sendAtPace(
  sender: Sender,
  requests: readonly string[],
  perSecond: number,
): Promise<Paced> {
  const times = new Float64Array(requests.length);
  const lateness = new Float64Array(requests.length);
  const answers: Promise<void>[] = [];
  let failure: Error | null = null;
  const startedAt = performance.now() + 50;
  const dueAt = (index: number) => startedAt + (index * 1_000) / perSecond;
  let sent = 0;
  while (sent < requests.length) {
    while (sent < requests.length && dueAt(sent) <= performance.now()) {
      const index = sent;
      sent += 1;
      lateness[index] = performance.now() - dueAt(index);
      answers.push(
        sender.send(requests[index] as string).then(
          () => {
            times[index] = performance.now() - dueAt(index);
          },
          (error) => {
            failure ??= error;
          },
        ),
      );
    }
    interruption.throwIfAborted();
    if (failure) throw failure;
    await sleep(1);
  }
  await Promise.all(answers);
  if (failure) throw failure;
  times.sort();
  lateness.sort();
  return {
    p50Ms: quantile(times, 0.5),
    p99Ms: quantile(times, 0.99),
    maxMs: quantile(times, 1),
    senderLateMs: quantile(lateness, 0.99),
  };
}
