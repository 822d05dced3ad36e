import pino from "pino";
import { maskSecrets } from "./mask-secrets.ts";
import { traceFields } from "./trace-context.ts";
import { stdoutLines } from "./write-lines.ts";

export type Log = pino.Logger;

/**
 * One JSON line per event. Headers and bodies are never passed to it, and keys in a path are masked.
 * @param destination stdout by default
 */
export function createLog(level: string, destination?: pino.DestinationStream): Log {
  const options = {
    level,
    base: null,
    mixin: traceFields,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: plainError },
    hooks: { streamWrite: maskSecrets },
  };
  return pino(options, destination ?? stdoutLines());
}

/** Message, code and stack; not the parameters that a driver adds to its errors. */
function plainError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { name, message, stack } = error;
  const { code } = error as { code?: unknown };
  return { name, message, stack, ...(typeof code === "string" ? { code } : {}) };
}
