import { compareWithGoals, type Figure, type Goal } from "../shared/figures.ts";
import { median } from "../shared/statistics.ts";
import { type ContenderName, IN_MEMORY, ON_REDIS } from "./contenders.ts";
import type { RateName, Standing } from "./standings.ts";

const [MEMORY] = IN_MEMORY as [ContenderName];
const [REDIS] = ON_REDIS as [ContenderName];
const PEER: ContenderName = "rate-limiter-flexible";
const PEERS_ON_REDIS = ON_REDIS.filter((name) => name.startsWith(`${PEER}, `));

const GOALS: readonly Goal<Standing[]>[] = [
  ...[MEMORY, REDIS].flatMap(exact),
  ratio("one key", 2, (standings) => compared(standings, MEMORY, PEER, "hot")),
  ratio("100,000 keys", 2.2, (standings) => compared(standings, MEMORY, PEER, "keys")),
  {
    figure: `bytes per key, compared with ${PEER}`,
    unit: " x",
    digits: 2,
    atMost: 0.6,
    value: (standings) => over(bytes(standings, MEMORY), bytes(standings, PEER)),
  },
  ratio("Redis, one key", 1.5, (standings) => fasterClient(standings, "hot")),
  ratio("Redis, 100,000 keys", 1.5, (standings) => fasterClient(standings, "keys")),
  ratio("Redis, denied", 20, (standings) => fasterClient(standings, "denied")),
];

export function figures(standings: Standing[]): Figure[] {
  return compareWithGoals(GOALS, standings);
}

function exact(name: ContenderName): Goal<Standing[]>[] {
  const of = (standings: Standing[]) => find(standings, name)?.accuracy;
  return [
    {
      figure: `${name}: most admitted in any window / limit`,
      unit: "",
      digits: 2,
      atMost: 1,
      value: (standings) => over(of(standings)?.mostAdmitted, of(standings)?.limit),
    },
    {
      figure: `${name}: wrong refusals`,
      unit: "",
      digits: 0,
      atMost: 0,
      value: (standings) => of(standings)?.wrongRefusals,
    },
    {
      figure: `${name}: error of resetAt`,
      unit: " ms",
      digits: 1,
      atMost: 0,
      value: (standings) => of(standings)?.resetErrorMs,
    },
  ];
}

function ratio(what: string, atLeast: number, value: Goal<Standing[]>["value"]): Goal<Standing[]> {
  return { figure: `calls/s, ${what}, compared with ${PEER}`, unit: " x", digits: 2, atLeast, value };
}

/** The median of the rounds' ratios. */
function compared(standings: Standing[], ours: ContenderName, peer: ContenderName, rate: RateName) {
  const peers = find(standings, peer)?.rates[rate]?.rounds ?? [];
  const ratios = (find(standings, ours)?.rates[rate]?.rounds ?? []).flatMap(({ callsPerSecond }, round) => {
    const theirs = peers[round];
    return theirs ? [callsPerSecond / theirs.callsPerSecond] : [];
  });
  return ratios.length === 0 ? null : median(ratios);
}

/** Compared with the client that is the faster one. */
function fasterClient(standings: Standing[], rate: RateName): number | null {
  const ratios = PEERS_ON_REDIS.map((name) => compared(standings, REDIS, name, rate)).filter(
    (value) => value !== null,
  );
  return ratios.length === 0 ? null : Math.min(...ratios);
}

function bytes(standings: Standing[], name: ContenderName): number | undefined {
  return find(standings, name)?.bytes?.bytes;
}

function over(above: number | undefined, below: number | undefined): number | null {
  return above === undefined || below === undefined ? null : above / below;
}

function find(standings: Standing[], name: ContenderName): Standing | undefined {
  return standings.find((standing) => standing.name === name);
}
