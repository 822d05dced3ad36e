import { execFileSync } from "node:child_process";
import { appendFile, mkdir } from "node:fs/promises";
import { availableParallelism, loadavg } from "node:os";
import { resolve } from "node:path";

/** `script/proof` runs the tests of this folder at their full size, and keeps what they measured. */
export const isFullProof = process.env.PROOF === "full";

const FOLDER = resolve(import.meta.dirname, "../../docs/proofs");

/** The time between two polls of all outbound events: more frequent ones would slow down a full proof. */
export const READ_EVENTS_EVERY_MS = isFullProof ? 5_000 : 100;

/**
 * Adds a line to the proof's report, in full runs only.
 * @param timeline the events of the run, a line each
 */
export async function report(
  name: string,
  figures: Record<string, string | number>,
  timeline: readonly string[] = [],
): Promise<void> {
  if (!isFullProof) return;
  const commit = execFileSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).trim();
  const facts = Object.entries(figures).map(([figure, value]) => `${figure} ${value}`);
  await mkdir(FOLDER, { recursive: true });
  const date = new Date().toISOString().slice(0, 10);
  // The load of the machine: measured times mean little above one per core.
  const [, , load = 0] = loadavg();
  facts.push(`load of the last 15 minutes ${load.toFixed(1)} on ${availableParallelism()} cores`);
  const lines = [`- ${date}, ${commit}: ${facts.join(", ")}`, ...timeline.map((line) => `  - ${line}`)];
  await appendFile(resolve(FOLDER, `${name}.md`), `${lines.join("\n")}\n`);
}

/** Notes what was done when, in seconds since this was called. */
export function startTimeline() {
  const startedAt = performance.now();
  const lines: string[] = [];
  return {
    lines,
    note: (what: string) => {
      lines.push(`${((performance.now() - startedAt) / 1_000).toFixed(1)} s: ${what}`);
    },
  };
}
