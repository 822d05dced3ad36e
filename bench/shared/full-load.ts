import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { BrokenMeasurement } from "./broken.ts";
import { interruption } from "./interruption.ts";

const run = promisify(execFile);

/** What wrk saw. Requests that it did not wait for at the end are handed out but not answered. */
export type FullLoad = {
  handed: number;
  answered: number;
  seconds: number;
  p50Ms: number;
  p99Ms: number;
  maxMs: number;
};

export type FullLoadOptions = {
  port: number;
  connections: number;
  seconds: number;
  /** Ready-made requests, all of `requestBytes`. */
  file: string;
  requestBytes: number;
  /**
   * `once`: each request is sent once, and running out of them breaks the measurement. `again`: round and
   * round.
   */
  mode: "once" | "again";
};

type Printed = {
  handed: number;
  ranOut: boolean;
  answered: number;
  refused: number;
  broken: number;
  micros: number;
  p50: number;
  p99: number;
  max: number;
};

/**
 * Each connection sends its next request as soon as it has an answer. @throws BrokenMeasurement on any error
 */
export async function sendAsFastAsAnswered(options: FullLoadOptions): Promise<FullLoad> {
  const { stdout } = await run(
    "wrk",
    [
      "--threads=1",
      `--connections=${options.connections}`,
      `--duration=${options.seconds}s`,
      "--timeout=10s",
      "--latency",
      `--script=${new URL("wrk/ready-made.lua", import.meta.url).pathname}`,
      `http://127.0.0.1:${options.port}/`,
      "--",
      options.file,
      String(options.requestBytes),
      options.mode,
    ],
    { timeout: (options.seconds + 60) * 1_000, signal: interruption },
  );
  const line = /^JSON (.*)$/m.exec(stdout)?.[1];
  if (line === undefined) throw new BrokenMeasurement(`wrk printed no result:\n${stdout}`);
  const printed = JSON.parse(line) as Printed;
  if (printed.refused > 0) throw new BrokenMeasurement(`${printed.refused} answers were errors`);
  if (printed.broken > 0) throw new BrokenMeasurement(`${printed.broken} requests were not answered at all`);
  if (printed.ranOut)
    throw new BrokenMeasurement(`all ${printed.handed} requests were sent before the round was over`);
  return {
    handed: printed.handed,
    answered: printed.answered,
    seconds: printed.micros / 1e6,
    p50Ms: printed.p50 / 1e3,
    p99Ms: printed.p99 / 1e3,
    maxMs: printed.max / 1e3,
  };
}
