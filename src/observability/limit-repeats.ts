/** For entries that strangers can cause: see `limitRepeats`. */
export type ThrottledLog = Record<"error" | "warn" | "debug", (fields: object, message: string) => void>;

const MAX_ENTRIES = 20;
const WINDOW_MS = 10_000;

/**
 * Writes at most 20 errors and warnings of each message in 10 s, and then how many were suppressed. Strangers
 * can cause any number of some: a flood would fill the disk, or hold up a process whose log is read slowly.
 * Errors of each class are counted apart, so that those of an outage hide no defect.
 * @param log gets constant messages; what differs is in the fields
 */
export function limitRepeats(
  log: ThrottledLog,
  { maxEntries = MAX_ENTRIES, windowMs = WINDOW_MS } = {},
): ThrottledLog {
  const counts = new Map<string, number>();
  const limited = (level: "error" | "warn") => (fields: object, message: string) => {
    const kind = `${message} ${errorName(fields)}`;
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    if (count === 1) setTimeout(() => end(level, message, kind), windowMs).unref();
    if (count <= maxEntries) log[level](fields, message);
  };
  const end = (level: "error" | "warn", message: string, kind: string) => {
    const suppressed = (counts.get(kind) ?? 0) - maxEntries;
    counts.delete(kind);
    if (suppressed > 0) log[level]({ entry: message, suppressed }, "repeated log entries suppressed");
  };
  return {
    error: limited("error"),
    warn: limited("warn"),
    debug: (fields, message) => log.debug(fields, message),
  };
}

function errorName(fields: { err?: unknown }): string {
  return fields.err instanceof Error ? fields.err.name : "";
}
