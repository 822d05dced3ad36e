import { readFileSync } from "node:fs";

/** How many files and connections this process may have open at once; `null`: the system does not say, or sets no limit. */
export function maxOpenFiles(): number | null {
  try {
    const [, limit] = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    return limit === undefined ? null : Number(limit);
  } catch {
    return null;
  }
}
