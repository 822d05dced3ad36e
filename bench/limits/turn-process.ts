import { MEASURES } from "./measure.ts";
import type { Turn, TurnOutcome } from "./turn.ts";

const turn = JSON.parse(process.argv[2] as string) as Turn;
let outcome: TurnOutcome;
try {
  outcome = { measured: await MEASURES[turn.measure](turn) };
} catch (error) {
  outcome = { failure: (error as Error).stack ?? String(error) };
}
// Its timers would keep it alive for as long as its windows.
process.send?.(outcome, () => process.exit());
