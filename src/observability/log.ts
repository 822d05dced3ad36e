import pino from "pino";
import { escapeControls } from "../domain/escape-controls.ts";
import { maskSecrets } from "./mask-secrets.ts";
import { traceFields } from "./trace-context.ts";
import { stdoutLines } from "./write-lines.ts";

export type Log = pino.Logger;

/**
 * One JSON line per event, for any reader. Headers and bodies are never passed to it, and keys in a path are masked.
 * @param destination stdout by default
 */
export function createLog(level: string, destination?: pino.DestinationStream): Log {
  const options = {
    level,
    base: null,
    mixin: traceFields,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: (error: unknown) => plainError(error) },
    hooks: { streamWrite: (line: string) => escapeControls(maskSecrets(line)) },
  };
  return pino(options, destination ?? stdoutLines());
}

/** A cause may have its own, or be its own. */
const MAX_CAUSES = 3;

/** Message, code, stack and causes; not the parameters that a driver adds to its errors. */
function plainError(error: unknown, causesLeft = MAX_CAUSES): unknown {
  if (!(error instanceof Error)) return error;
  const { name, message, stack, cause } = error;
  const { code } = error as { code?: unknown };
  return {
    name,
    message,
    stack,
    ...(typeof code === "string" ? { code } : {}),
    ...(cause !== undefined && causesLeft > 0 ? { cause: plainError(cause, causesLeft - 1) } : {}),
  };
}
