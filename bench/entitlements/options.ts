import { parseArgs } from "node:util";
import { partsOf, readOrExit, wholeNumber } from "../shared/command-line.ts";
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
  return readOrExit(HELP, () => {
    const { values } = parseArgs({
      args: [...args],
      options: {
        rounds: { type: "string", default: "5" },
        seconds: { type: "string", default: "4" },
        only: { type: "string", default: PARTS.join(",") },
        "database-url": { type: "string" },
        help: { type: "boolean", default: false },
      },
    });
    if (values.help) return "help";
    const seconds = wholeNumber("--seconds", values.seconds, 1, 60);
    return {
      rounds: wholeNumber("--rounds", values.rounds, 1, 20),
      seconds,
      warmUpSeconds: Math.min(3, seconds),
      parts: new Set(partsOf(values.only, PARTS)),
      databaseUrl: values["database-url"] ?? null,
    };
  });
}
