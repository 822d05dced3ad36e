import { fork } from "node:child_process";
import { BrokenMeasurement } from "../shared/broken.ts";
import { interruption } from "../shared/interruption.ts";
import type { ContenderName } from "./contenders.ts";
import type { Measures } from "./measure.ts";
import type { RedisServer } from "./redis-server.ts";

export type Turn<Measure extends keyof Measures = keyof Measures> = {
  contender: ContenderName;
  measure: Measure;
  seconds: number;
  redis: Pick<RedisServer, "port" | "pid">;
};

export type TurnOutcome = { measured: unknown } | { failure: string };

const PROGRAM = new URL("./turn-process.ts", import.meta.url);

/**
 * Measures one thing in a process of its own: nobody's garbage, timers or compiled code are in anybody's way.
 */
export async function takeTurn<Measure extends keyof Measures>(
  turn: Turn<Measure>,
): Promise<Awaited<ReturnType<Measures[Measure]>>> {
  const outcome = Promise.withResolvers<TurnOutcome>();
  const child = fork(PROGRAM, [JSON.stringify(turn)], { execArgv: ["--expose-gc"], signal: interruption });
  child.once("message", (message) => outcome.resolve(message as TurnOutcome));
  child.once("error", outcome.reject);
  child.once("exit", (code) => outcome.resolve({ failure: `ended with ${code} before it was done` }));
  const result = await outcome.promise.finally(() => child.kill("SIGKILL"));
  if ("failure" in result)
    throw new BrokenMeasurement(`${turn.contender}, ${turn.measure}: ${result.failure}`);
  return result.measured as Awaited<ReturnType<Measures[Measure]>>;
}
