import { setTimeout as sleep } from "node:timers/promises";
import { interruption } from "./interruption.ts";
import { note } from "./note.ts";

export type Turns = {
  rounds: number;
  seconds: number;
  warmUpSeconds: number;
  /** Without any load, before each round. */
  pauseSeconds?: number;
};

/** Warms everybody up, then lets them take turns, so that what changes on the machine changes for all. */
export async function takeTurns<Round>(
  contenders: readonly { name: string; round(seconds: number): Promise<Round> }[],
  turns: Turns,
  inShort: (round: Round) => string,
): Promise<Record<string, Round[]>> {
  for (const contender of contenders) {
    note(`${contender.name}: warm-up: ${inShort(await contender.round(turns.warmUpSeconds))}`);
  }
  const rounds: Record<string, Round[]> = Object.fromEntries(contenders.map(({ name }) => [name, []]));
  for (let number = 1; number <= turns.rounds; number += 1) {
    for (const contender of contenders) {
      await sleep((turns.pauseSeconds ?? 0) * 1000, undefined, { signal: interruption });
      const round = await contender.round(turns.seconds);
      rounds[contender.name]?.push(round);
      note(`${contender.name}: round ${number} of ${turns.rounds}: ${inShort(round)}`);
    }
  }
  return rounds;
}
