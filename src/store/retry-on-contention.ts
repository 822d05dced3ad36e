import { setTimeout as sleep } from "node:timers/promises";
import { isContention } from "./transaction.ts";

const MAX_RUNS = 10;

/** Deadlocks and lost races use up no attempt: the same work is run again at once. */
export async function retryOnContention<Result>(
  run: () => Promise<Result>,
  maxRuns = MAX_RUNS,
): Promise<Result> {
  for (let runs = 1; ; runs += 1) {
    try {
      return await run();
    } catch (error) {
      if (!isContention(error) || runs >= maxRuns) throw error;
      await sleep(Math.random() * 5 * runs);
    }
  }
}
