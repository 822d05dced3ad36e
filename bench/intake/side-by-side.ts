import { setTimeout as sleep } from "node:timers/promises";
import { residentMegabytes } from "../shared/cpu.ts";
import { median } from "../shared/statistics.ts";
import { takeTurns } from "../shared/turns.ts";
import { type Bench, type Contender, type Round, summaryLine } from "./contender.ts";
import { CONTENDERS, type ContenderName, startContender } from "./contenders.ts";

export type SideBySide = {
  contenders: Standing[];
  /** Of each server, 10 s after its last round. */
  residentMegabytesAfterwards: Record<string, number>;
};

/** Medians of a contender's rounds, and the rounds themselves. */
type Standing = Omit<Round, "events"> & {
  name: ContenderName;
  slowest: number;
  fastest: number;
  /** Tollgate's events/s divided by this contender's. */
  tollgateIs: number | null;
  rounds: Round[];
};

const IDLE_MS = 10_000;

/** All contenders on one PostgreSQL, taking turns. */
export async function measureSideBySide(bench: Bench): Promise<SideBySide | null> {
  const names = CONTENDERS.filter((name) => bench.options.parts.has(name));
  if (names.length === 0) return null;
  const contenders: Contender[] = [];
  try {
    for (const name of names) contenders.push(await startContender(bench, name));
    const rounds = await takeTurns(contenders, bench.options, summaryLine);
    const standings = names.map((name) => standing(name, rounds[name] ?? []));
    const tollgate = standings.find((standing) => standing.name === "tollgate");
    for (const standing of standings) {
      if (tollgate) standing.tollgateIs = tollgate.eventsPerSecond / standing.eventsPerSecond;
    }
    return { contenders: standings, residentMegabytesAfterwards: await memoryAfterwards(contenders) };
  } finally {
    for (const contender of contenders) await contender.stop();
  }
}

/** Medians over the rounds. */
function standing(name: ContenderName, rounds: Round[]): Standing {
  const middle = (of: (round: Round) => number | null) => {
    const values = rounds.map(of).filter((value) => value !== null);
    return values.length === 0 ? null : median(values);
  };
  const rates = rounds.map((round) => round.eventsPerSecond);
  return {
    name,
    eventsPerSecond: median(rates),
    slowest: Math.min(...rates),
    fastest: Math.max(...rates),
    p50Ms: median(rounds.map((round) => round.p50Ms)),
    p99Ms: median(rounds.map((round) => round.p99Ms)),
    serverMicrosPerEvent: middle((round) => round.serverMicrosPerEvent),
    postgresMicrosPerEvent: middle((round) => round.postgresMicrosPerEvent),
    walBytesPerEvent: middle((round) => round.walBytesPerEvent),
    tollgateIs: null,
    rounds,
  };
}

async function memoryAfterwards(contenders: readonly Contender[]): Promise<Record<string, number>> {
  const servers = contenders.filter((contender) => contender.process);
  if (servers.length > 0) await sleep(IDLE_MS);
  return Object.fromEntries(
    servers.flatMap(({ name, process }) => {
      const megabytes = process ? residentMegabytes(process.pid) : null;
      return megabytes === null ? [] : [[name, megabytes] as const];
    }),
  );
}
