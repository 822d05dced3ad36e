import type { Contender, Round } from "./contender.ts";
import { interruption } from "./interruption.ts";
import { note } from "./note.ts";
import type { Options } from "./options.ts";

/** Warms everybody up, then lets them take turns, so that what changes on the machine changes for all. */
export async function takeTurns(
  contenders: readonly Contender[],
  options: Options,
): Promise<Record<string, Round[]>> {
  for (const contender of contenders) {
    note(`${contender.name}: warm-up: ${inShort(await contender.round(options.warmUpSeconds))}`);
  }
  const rounds: Record<string, Round[]> = Object.fromEntries(contenders.map(({ name }) => [name, []]));
  for (let number = 1; number <= options.rounds; number += 1) {
    for (const contender of contenders) {
      interruption.throwIfAborted();
      const round = await contender.round(options.seconds);
      rounds[contender.name]?.push(round);
      note(`${contender.name}: round ${number} of ${options.rounds}: ${inShort(round)}`);
    }
  }
  return rounds;
}

function inShort(round: Round): string {
  return `${Math.round(round.eventsPerSecond)}/s, p99 ${round.p99Ms.toFixed(1)} ms`;
}
