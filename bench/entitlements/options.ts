import { readCommandLine } from "../shared/command-line.ts";
import type { Turns } from "../shared/turns.ts";

const PARTS = ["check", "rest", "upgrade"] as const;

export type Options = Turns & {
  parts: ReadonlySet<(typeof PARTS)[number]>;
  /** `null`: a cluster of our own. */
  databaseUrl: string | null;
};

const HELP = `Usage: script/bench entitlements [options]

check    decisions of the rules in one process
rest     GET /api/entitlements and POST /api/entitlements/check beside GET /api/subscriptions, in turn
upgrade  how long after the commit of a paid upgrade each of three processes shows it
The whole result goes to test-results/bench-entitlements.json. A figure that is missed does not change the exit status.

  --rounds N           turns of each (5)
  --seconds N          of a turn (4)
  --only A,B           only these parts: ${PARTS.join(", ")}
  --database-url URL   a PostgreSQL on which databases may be made, named tollgate_bench_*
                       (default: an embedded one in /var/tmp, removed afterwards)
  --help               this text
`;

export function readOptions(args: readonly string[]): Options {
  const accepted = {
    numbers: { rounds: [5, 1, 20], seconds: [4, 1, 60] },
    parts: PARTS,
    texts: ["database-url"],
  } as const;
  return readCommandLine(args, HELP, accepted, ({ numbers, parts, texts }) => ({
    ...numbers,
    warmUpSeconds: Math.min(3, numbers.seconds),
    parts: new Set(parts),
    databaseUrl: texts["database-url"],
  }));
}
