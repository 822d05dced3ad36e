import { execFile } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { quantile } from "../../bench/shared/statistics.ts";

export type Measured = {
  latenciesMs: number[];
  /** Of the same requests, by `performance.now()`. */
  sentAtMs: number[];
  statuses: Record<number, number>;
};

/** Sends at a fixed rate, however long responses take: a slow server does not get fewer requests. */
export async function pace(
  rate: number,
  seconds: number,
  send: (nth: number) => Promise<{ status: number }>,
): Promise<Measured> {
  const measured: Measured = { latenciesMs: [], sentAtMs: [], statuses: {} };
  const count = Math.round(rate * seconds);
  const startedAt = performance.now();
  const sent: Promise<void>[] = [];
  for (let nth = 0; nth < count; nth += 1) {
    await sleep(Math.max(0, startedAt + (nth * 1_000) / rate - performance.now()));
    const sentAt = performance.now();
    // An idle connection may be closed just as it is used again: clients repeat such a request.
    const sending = send(nth)
      .catch(() => send(nth))
      .then(
        ({ status }) => {
          measured.latenciesMs.push(performance.now() - sentAt);
          measured.sentAtMs.push(sentAt);
          measured.statuses[status] = (measured.statuses[status] ?? 0) + 1;
        },
        () => {
          measured.statuses[0] = (measured.statuses[0] ?? 0) + 1;
        },
      );
    sent.push(sending);
  }
  await Promise.all(sent);
  return measured;
}

export function p99(latenciesMs: readonly number[]): number {
  return quantile(
    latenciesMs.toSorted((a, b) => a - b),
    0.99,
  );
}

const EVERY_MS = 1_000;

/** Samples a process's resident memory in MB until it is stopped. */
export function watchMemory(pid: number): { stop(): number[] } {
  const samples: number[] = [];
  const timer = setInterval(async () => {
    const { stdout } = await promisify(execFile)("ps", ["-o", "rss=", "-p", String(pid)]).catch(() => ({
      stdout: "",
    }));
    const kilobytes = Number(stdout.trim());
    if (kilobytes > 0) samples.push(Math.round(kilobytes / 1024));
  }, EVERY_MS);
  return {
    stop: () => {
      clearInterval(timer);
      return samples;
    },
  };
}

const PARTS = 5;

/** A quantile of each fifth of the time; 0: the lowest sample. */
export function quantiles(samples: readonly number[], share: number): number[] {
  return Array.from({ length: PARTS }, (_, part) => {
    const from = Math.floor((samples.length * part) / PARTS);
    const fifth = samples.slice(from, Math.floor((samples.length * (part + 1)) / PARTS));
    return quantile(
      fifth.toSorted((a, b) => a - b),
      share,
    );
  });
}
