import { format, stripVTControlCharacters } from "node:util";
import type { Log } from "./log.ts";

export type CaptureOptions = {
  log: Log;
  /** Fields to log the output with, such as the request's id; `null`: not worth an entry. */
  context(output: string): Record<string, unknown> | null;
  /** Milliseconds since any instant. */
  now?: () => number;
};

const MAX_LINES = 20;
const WINDOW_MS = 10_000;
const MAX_CHARACTERS = 4_000;

const LEVELS = {
  error: "error",
  warn: "warn",
  log: "info",
  info: "info",
  debug: "debug",
  trace: "debug",
} as const;

/**
 * Sends to the log whatever libraries print: each call becomes one entry, in which line breaks are escaped,
 * so that no text from outside can pass for an entry of ours. Beyond 20 in 10 s they are counted, not
 * written.
 * @returns puts everything back
 */
export function captureOutput(options: CaptureOptions): () => void {
  const write = limitedWriter(options);
  const original = { ...console };
  for (const [method, level] of Object.entries(LEVELS) as [keyof typeof LEVELS, Level][]) {
    console[method] = (...printed: unknown[]) => write(level, format(...printed));
  }
  const streams = [process.stdout, process.stderr].map((stream) => {
    const originalWrite = stream.write;
    stream.write = ((chunk: string | Uint8Array, ...rest: unknown[]) => {
      write(stream === process.stderr ? "warn" : "info", Buffer.from(chunk as string).toString());
      const callback = rest.findLast((argument) => typeof argument === "function") as
        | ((error?: null) => void)
        | undefined;
      if (callback) process.nextTick(callback, null);
      return true;
    }) as typeof stream.write;
    return { stream, originalWrite };
  });
  return () => {
    Object.assign(console, original);
    for (const { stream, originalWrite } of streams) stream.write = originalWrite;
  };
}

type Level = (typeof LEVELS)[keyof typeof LEVELS];

function limitedWriter({ log, context, now = () => performance.now() }: CaptureOptions) {
  let windowStart = Number.NEGATIVE_INFINITY;
  let lines = 0;
  let suppressed = 0;
  return (level: Level, text: string): void => {
    const output = stripVTControlCharacters(text).trim().slice(0, MAX_CHARACTERS);
    const fields = output === "" ? null : context(output);
    if (fields === null) return;
    const at = now();
    if (at - windowStart >= WINDOW_MS) {
      if (suppressed > 0) log.warn({ suppressed }, "output of libraries suppressed");
      windowStart = at;
      lines = 0;
      suppressed = 0;
    }
    lines += 1;
    if (lines > MAX_LINES) suppressed += 1;
    else log[level]({ ...fields, output }, "output of a library");
  };
}
