import { readdirSync, readFileSync } from "node:fs";

const TICK_MICROS = 10_000;

export type ProcessStat = {
  command: string;
  parent: number;
  /** User and system time of the process and all its threads. */
  ownMicros: number;
  /** The same of children that have exited and were waited for, and theirs. */
  exitedChildrenMicros: number;
};

/** What Linux counts for a process; `null` when there is no such process, or no /proc. Exact to 10 ms. */
export function processStat(pid: number): ProcessStat | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    const end = text.lastIndexOf(")");
    // Counted from the third field, the state: see proc(5).
    const fields = text.slice(end + 2).split(" ");
    const micros = (field: number) => Number(fields[field - 3]) * TICK_MICROS;
    return {
      command: text.slice(text.indexOf("(") + 1, end),
      parent: Number(fields[1]),
      ownMicros: micros(14) + micros(15),
      exitedChildrenMicros: micros(16) + micros(17),
    };
  } catch {
    return null;
  }
}

/**
 * All of PostgreSQL: the main process, its children (backends, checkpointer, WAL writer ...) and those that
 * have exited.
 */
export function postgresMicros(pid: number | null): number | null {
  const main = pid === null ? null : processStat(pid);
  if (main === null) return null;
  let total = main.ownMicros + main.exitedChildrenMicros;
  for (const name of readdirSync("/proc")) {
    const stat = /^\d+$/.test(name) ? processStat(Number(name)) : null;
    if (stat?.parent === pid) total += stat.ownMicros;
  }
  return total;
}

/** Resident memory in megabytes (10^6 bytes); `null` without /proc. */
export function residentMegabytes(pid: number): number | null {
  try {
    const [, kibibytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return kibibytes === undefined ? null : (Number(kibibytes) * 1024) / 1e6;
  } catch {
    return null;
  }
}
