import { readCommandLine } from "../shared/command-line.ts";

const PARTS = ["processes", "slots"] as const;
const MOST = 3;

export type Options = {
  rounds: number;
  seconds: number;
  connections: number;
  subscriptions: number;
  /** Of each measurement: how many server processes, and how many slots the events are spread over. */
  layouts: { processes: number; slots: number }[];
  parts: ReadonlySet<(typeof PARTS)[number]>;
  databaseUrl: string | null;
};

const HELP = `Usage: script/bench processes [options]

Signed webhooks to 1, 2 and 3 server processes on one database, and to 1, 2 and 3 slots, as fast as they are answered.
The load generator, the servers and PostgreSQL share the machine.

  --rounds N           measured rounds of each (3)
  --seconds N          length of a round (5)
  --connections N      over all processes and slots (64)
  --subscriptions N    of each slot (6000)
  --only A,B           only these parts: ${PARTS.join(", ")}
  --database-url URL   a PostgreSQL on which databases may be made (default: an embedded one, removed afterwards)
  --help               this text
`;

export function readOptions(args: readonly string[]): Options {
  return readCommandLine(args, HELP, ACCEPTED, ({ numbers, texts, parts }) => ({
    rounds: numbers.rounds,
    seconds: numbers.seconds,
    connections: numbers.connections,
    subscriptions: numbers.subscriptions,
    layouts: layouts(parts),
    parts: new Set(parts),
    databaseUrl: texts["database-url"],
  }));
}

const ACCEPTED = {
  numbers: {
    rounds: [3, 1, 100],
    seconds: [5, 1, 60],
    connections: [64, 9, 90],
    subscriptions: [6_000, 900, 60_000],
  },
  parts: PARTS,
  texts: ["database-url"],
} as const;

/** More processes over one slot, and more slots at one process; both have one of each to compare with. */
function layouts(parts: readonly (typeof PARTS)[number][]): Options["layouts"] {
  const counts = Array.from({ length: MOST - 1 }, (_, index) => index + 2);
  return [
    { processes: 1, slots: 1 },
    ...(parts.includes("processes") ? counts.map((processes) => ({ processes, slots: 1 })) : []),
    ...(parts.includes("slots") ? counts.map((slots) => ({ processes: 1, slots })) : []),
  ];
}
