import { note } from "../shared/note.ts";
import type { Paced } from "../shared/pace.ts";
import { median } from "../shared/statistics.ts";
import { takeTurns } from "../shared/turns.ts";
import { type Bench, type Contender, type Round, startContender, summaryLine } from "./contender.ts";
import { type ContenderName, comparedWith } from "./contenders.ts";

/** Medians of a contender's rounds, and the rounds themselves. */
export type Standing = Omit<Round, "calls"> & {
  name: ContenderName;
  /** Tollgate's over the same surface; `null` for itself. */
  comparedWith: ContenderName | null;
  /** Its calls/s divided by this contender's: of each round, and the median of those. */
  tollgateIs: { median: number; rounds: number[] } | null;
  /** Its CPU per call less this contender's, in microseconds: of each round, and the median of those. */
  tollgateCosts: { median: number; rounds: number[] } | null;
  /** Under light load; `null` when that part was left out. */
  offered: (Paced & { rounds: Paced[] }) | null;
  rounds: Round[];
};

/** What every contender can take, so that it is the way of one call that is measured and not a queue. */
export const OFFERED_PER_SECOND = 300;

/** Everybody is warm by then. */
const OFFERED_WARM_UP_SECONDS = 1;

/**
 * Contenders on one PostgreSQL, taking turns: first under full load, then, if asked for, under light load.
 */
export async function measureSideBySide(
  bench: Bench,
  among: readonly ContenderName[],
  { light }: { light: boolean },
): Promise<Standing[]> {
  const { options } = bench;
  const names = among.filter((name) => options.parts.has(name));
  const contenders: Contender[] = [];
  try {
    for (const name of names) contenders.push(await startContender(bench, name));
    const rounds = await takeTurns(contenders, options, summaryLine);
    const paced = light ? await offered(contenders, bench) : {};
    return names.map((name) => standing(name, rounds, paced[name] ?? null));
  } finally {
    for (const contender of contenders) await contender.stop();
  }
}

async function offered(
  contenders: readonly Contender[],
  { options }: Bench,
): Promise<Record<string, Paced[]>> {
  note(`${OFFERED_PER_SECOND} calls/s offered:`);
  const paced = contenders.map(({ name, pacedRound }) => ({
    name,
    round: (seconds: number) => pacedRound(seconds, OFFERED_PER_SECOND),
  }));
  return takeTurns(
    paced,
    { ...options, seconds: Math.ceil(options.seconds / 2), warmUpSeconds: OFFERED_WARM_UP_SECONDS },
    ({ p50Ms, p99Ms }) => `p50 ${p50Ms.toFixed(1)}, p99 ${p99Ms.toFixed(1)} ms`,
  );
}

function standing(name: ContenderName, everybodys: Record<string, Round[]>, paced: Paced[] | null): Standing {
  const rounds = everybodys[name] ?? [];
  const peer = comparedWith(name);
  const tollgates = peer === null ? [] : (everybodys[peer] ?? []);
  const middle = (of: (round: Round) => number | null) => medianOf(rounds.map(of));
  return {
    name,
    comparedWith: peer,
    callsPerSecond: median(rounds.map((round) => round.callsPerSecond)),
    p50Ms: median(rounds.map((round) => round.p50Ms)),
    p99Ms: median(rounds.map((round) => round.p99Ms)),
    serverMicrosPerCall: middle((round) => round.serverMicrosPerCall),
    postgresMicrosPerCall: middle((round) => round.postgresMicrosPerCall),
    tollgateIs: neighbours(tollgates, rounds, (ours, theirs) => ours.callsPerSecond / theirs.callsPerSecond),
    tollgateCosts: neighbours(tollgates, rounds, (ours, theirs) =>
      ours.serverMicrosPerCall === null || theirs.serverMicrosPerCall === null
        ? null
        : ours.serverMicrosPerCall - theirs.serverMicrosPerCall,
    ),
    offered: paced && {
      p50Ms: median(paced.map((round) => round.p50Ms)),
      p99Ms: median(paced.map((round) => round.p99Ms)),
      maxMs: Math.max(...paced.map((round) => round.maxMs)),
      senderLateMs: median(paced.map((round) => round.senderLateMs)),
      rounds: paced,
    },
    rounds,
  };
}

/** Compares those rounds that were measured one after the other. */
function neighbours(
  tollgates: Round[],
  others: Round[],
  compare: (ours: Round, theirs: Round) => number | null,
): { median: number; rounds: number[] } | null {
  const rounds = tollgates.flatMap((ours, index) => {
    const theirs = others[index];
    const value = theirs ? compare(ours, theirs) : null;
    return value === null ? [] : [value];
  });
  return rounds.length === 0 ? null : { median: median(rounds), rounds };
}

function medianOf(values: (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : median(known);
}
