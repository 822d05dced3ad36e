import { execFile } from "node:child_process";
import { promisify } from "node:util";

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

/** The median of each of so many parts of the time. */
export function medians(samples: readonly number[], parts: number): number[] {
  return Array.from({ length: parts }, (_, part) => {
    const from = Math.floor((samples.length * part) / parts);
    const slice = samples.slice(from, Math.floor((samples.length * (part + 1)) / parts));
    return slice.toSorted((a, b) => a - b)[Math.floor(slice.length / 2)] ?? Number.NaN;
  });
}
