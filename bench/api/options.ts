import { readCommandLine } from "../shared/command-line.ts";
import { CONTENDERS } from "./contenders.ts";

const PARTS = [...CONTENDERS, "offered"] as const;

export type Options = {
  rounds: number;
  seconds: number;
  warmUpSeconds: number;
  connections: number;
  parts: ReadonlySet<(typeof PARTS)[number]>;
  /** `null`: a cluster of our own. */
  databaseUrl: string | null;
  profile: boolean;
};

const HELP = `Usage: script/bench api [options]

GET /api/subscriptions?limit=10, by cookie, limited, validated and read from the database, measured side by side: Tollgate;
the same route in Hono and in a Next.js route handler, both with Better Auth's getSession and rate-limiter-flexible; and
its bare handler, without a gate. Then one read, ten notifications, over Tollgate's REST, RPC and GraphQL, the last two
beside a bare tRPC and a bare Yoga server that do the same without a gate. At last the first route again, with the pages
loaded and without. All read one database on one PostgreSQL, one
after the other, round by round; what is printed are medians of the rounds, ratios those of neighbours in one round.
The whole result goes to test-results/bench-api.json. A figure that is missed does not change the exit
status, only a measurement that cannot be trusted does.

  --rounds N           measured rounds of each contender (5)
  --seconds N          length of a round (4); half of it under light load
  --warm-up N          seconds under load before the first round, not measured (6)
  --connections N      connections that send as fast as they are answered (64)
  --only A,B           only these parts: ${PARTS.join(", ")}
  --database-url URL   a PostgreSQL on which databases may be made, named tollgate_bench_*
                       (default: an embedded one in /var/tmp, removed afterwards)
  --profile            write CPU profiles of Tollgate and the bare servers to test-results/profiles (slows them down)
  --help               this text
`;

export function readOptions(args: readonly string[]): Options {
  const accepted = {
    numbers: { rounds: [5, 1, 100], seconds: [4, 1, 120], "warm-up": [6, 1, 120], connections: [64, 1, 512] },
    parts: PARTS,
    texts: ["database-url"],
    flags: ["profile"],
  } as const;
  return readCommandLine(args, HELP, accepted, ({ numbers, parts, texts, flags }) => ({
    rounds: numbers.rounds,
    seconds: numbers.seconds,
    warmUpSeconds: numbers["warm-up"],
    connections: numbers.connections,
    parts: new Set(parts),
    databaseUrl: texts["database-url"],
    profile: flags.profile,
  }));
}
