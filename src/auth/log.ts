/** What this room needs of the log. Headers, bodies and tokens are never handed to it; of people only where mail went. */
export type Log = Record<"debug" | "info" | "warn" | "error", (fields: object, message: string) => void>;

/** Of errors wrapped in errors the innermost: Drizzle's own message holds the statement's parameters, secrets too. */
export function innermost(error: unknown): unknown {
  let inner = error;
  while (inner instanceof Error && inner.cause instanceof Error) inner = inner.cause;
  return inner;
}
