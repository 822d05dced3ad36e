import { readCommandLine } from "../shared/command-line.ts";

/** What a run consists of, by the names that `--only` takes. */
const PARTS = [
  "tollgate",
  "tollgate-endpoint",
  "sync-engine",
  "stripe-sync-engine",
  "one-at-a-time",
  "serverless",
  "sql-one-statement",
  "sql-two-transactions",
  "history",
  "duplicates",
  "offered",
  "locked",
  "overload",
  "old-snapshot",
  "rest",
] as const;

type Part = (typeof PARTS)[number] | "tollgate-before";

export type Options = {
  rounds: number;
  seconds: number;
  warmUpSeconds: number;
  pauseSeconds: number;
  connections: number;
  subscriptions: number;
  bodyBytes: number;
  eventIds: "stripe" | "random";
  /** Of so many events of a subscription, one changes it. */
  changeEvery: number;
  historyRows: number;
  historyBodyBytes: number;
  snapshotSeconds: number;
  parts: ReadonlySet<Part>;
  /** `null`: a cluster of our own. */
  databaseUrl: string | null;
  profile: boolean;
  /** A commit, or a folder with a checkout, to compare with; `null`: none. */
  against: string | null;
};

const HELP = `Usage: script/bench intake [options]

Signed webhooks in, measured side by side: Tollgate, its peers, and pgbench with the bare SQL, each with a database
of its own on one PostgreSQL. Contenders take turns, round by round; what is printed are medians of the rounds.
The whole result goes to test-results/bench-intake.json. A figure that is missed does not change the exit
status, only a measurement that cannot be trusted does.

  --rounds N           measured rounds of each contender (5)
  --seconds N          length of a round (8)
  --warm-up N          seconds under load before the first round, not measured (5)
  --pause N            seconds without load before each round (0)
  --connections N      connections that send as fast as they are answered (64)
  --subscriptions N    subscriptions that the events are about, in turn (10000); sync-engine and stripe-sync-engine
                       take the longer the more there are, as they look items up without an index
  --body-bytes N       size of an event's body (1100)
  --event-ids KIND     stripe: begin with the time, as Stripe's do (default); random: spread over the whole index
  --change-every N     of so many events of a subscription, one changes it (1); "tollgate-endpoint" emits an event for each
                       change, to one endpoint
  --history-rows N     deliveries in the log for the part "history" (2000000)
  --history-body-bytes N  size of their bodies (300)
  --snapshot-seconds N seconds for which the part "old-snapshot" holds one, in whole minutes (600)
  --skip-history       all parts but "history"
  --only A,B           only these parts: ${PARTS.join(", ")}
  --database-url URL   a PostgreSQL on which databases may be made, named tollgate_bench_*
                       (default: an embedded one in /var/tmp, removed afterwards)
  --against REF        measure another commit (or a folder with a checkout and its packages) beside this one
  --profile            write CPU profiles of Tollgate to test-results/profiles (slows it down)
  --help               this text
`;

export function readOptions(args: readonly string[]): Options {
  return readCommandLine(args, HELP, ACCEPTED, ({ numbers, parts, texts, flags }) => ({
    rounds: numbers.rounds,
    seconds: numbers.seconds,
    warmUpSeconds: numbers["warm-up"],
    pauseSeconds: numbers.pause,
    connections: numbers.connections,
    subscriptions: numbers.subscriptions,
    bodyBytes: numbers["body-bytes"],
    eventIds: asEventIds(texts["event-ids"] ?? "stripe"),
    changeEvery: numbers["change-every"],
    historyRows: numbers["history-rows"],
    historyBodyBytes: numbers["history-body-bytes"],
    snapshotSeconds: numbers["snapshot-seconds"],
    parts: new Set([
      ...parts.filter((part) => part !== "history" || !flags["skip-history"]),
      ...(texts.against ? (["tollgate-before"] as const) : []),
    ]),
    against: texts.against,
    databaseUrl: texts["database-url"],
    profile: flags.profile,
  }));
}

const ACCEPTED = {
  numbers: {
    rounds: [5, 1, 100],
    seconds: [8, 1, 120],
    "warm-up": [5, 1, 120],
    pause: [0, 0, 600],
    connections: [64, 1, 80],
    subscriptions: [10_000, 1_000, 100_000],
    "body-bytes": [1_100, 1_100, 100_000],
    "change-every": [1, 1, 1_000],
    "history-rows": [2_000_000, 1, 50_000_000],
    "history-body-bytes": [300, 200, 10_000],
    "snapshot-seconds": [600, 60, 3_600],
  },
  parts: PARTS,
  texts: ["event-ids", "database-url", "against"],
  flags: ["skip-history", "profile"],
} as const;

function asEventIds(kind: string): Options["eventIds"] {
  if (kind === "stripe" || kind === "random") return kind;
  throw new Error("--event-ids: expected stripe or random");
}
