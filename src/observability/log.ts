import pino from "pino";

export type Log = pino.Logger;

/** One JSON line an event on stdout. Headers, bodies and secrets are never handed to it. */
export function createLog(level: string): Log {
  return pino({
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: plainError },
  });
}

/** Message, code and stack; not the parameters that a driver hangs on its errors. */
function plainError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { name, message, stack } = error;
  const { code } = error as { code?: unknown };
  return { name, message, stack, ...(typeof code === "string" ? { code } : {}) };
}
