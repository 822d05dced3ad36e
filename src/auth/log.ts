/** The logger that accounts need. Headers, bodies, tokens and addresses are never passed to it. */
export type Log = Record<"debug" | "info" | "warn" | "error", (fields: object, message: string) => void>;

/**
 * The innermost cause of an error: Drizzle's own message contains the statement's parameters, secrets
 * included.
 */
export function innermost(error: unknown): unknown {
  let inner = error;
  while (inner instanceof Error && inner.cause instanceof Error) inner = inner.cause;
  return inner;
}
