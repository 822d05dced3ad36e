import { parseArgs } from "node:util";
import { partsOf, readOrExit, wholeNumber } from "../shared/command-line.ts";

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
  "rest",
] as const;

type Part = (typeof PARTS)[number] | "tollgate-before";

export type Options = {
  rounds: number;
  seconds: number;
  warmUpSeconds: number;
  connections: number;
  subscriptions: number;
  bodyBytes: number;
  eventIds: "stripe" | "random";
  /** Of so many events of a subscription, one changes it. */
  changeEvery: number;
  historyRows: number;
  historyBodyBytes: number;
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
  --connections N      connections that send as fast as they are answered (64)
  --subscriptions N    subscriptions that the events are about, in turn (10000); sync-engine and stripe-sync-engine
                       take the longer the more there are, as they look items up without an index
  --body-bytes N       size of an event's body (1100)
  --event-ids KIND     stripe: begin with the time, as Stripe's do (default); random: spread over the whole index
  --change-every N     of so many events of a subscription, one changes it (1); "tollgate-endpoint" emits an event for each
                       change, to one endpoint
  --history-rows N     deliveries in the log for the part "history" (2000000)
  --history-body-bytes N  size of their bodies (300)
  --skip-history       all parts but "history"
  --only A,B           only these parts: ${PARTS.join(", ")}
  --database-url URL   a PostgreSQL on which databases may be made, named tollgate_bench_*
                       (default: an embedded one in /var/tmp, removed afterwards)
  --against REF        measure another commit (or a folder with a checkout and its packages) beside this one
  --profile            write CPU profiles of Tollgate to test-results/profiles (slows it down)
  --help               this text
`;

export function readOptions(args: readonly string[]): Options {
  return readOrExit(HELP, () => {
    const { values } = parseArgs({
      args: [...args],
      options: {
        rounds: { type: "string", default: "5" },
        seconds: { type: "string", default: "8" },
        "warm-up": { type: "string", default: "5" },
        connections: { type: "string", default: "64" },
        subscriptions: { type: "string", default: "10000" },
        "body-bytes": { type: "string", default: "1100" },
        "event-ids": { type: "string", default: "stripe" },
        "change-every": { type: "string", default: "1" },
        "history-rows": { type: "string", default: "2000000" },
        "history-body-bytes": { type: "string", default: "300" },
        "skip-history": { type: "boolean", default: false },
        only: { type: "string", default: PARTS.join(",") },
        "database-url": { type: "string" },
        profile: { type: "boolean", default: false },
        against: { type: "string" },
        help: { type: "boolean", default: false },
      },
    });
    if (values.help) return "help";
    const parts = partsOf(values.only, PARTS);
    return {
      rounds: wholeNumber("--rounds", values.rounds, 1, 100),
      seconds: wholeNumber("--seconds", values.seconds, 1, 120),
      warmUpSeconds: wholeNumber("--warm-up", values["warm-up"], 1, 120),
      connections: wholeNumber("--connections", values.connections, 1, 80),
      subscriptions: wholeNumber("--subscriptions", values.subscriptions, 1_000, 100_000),
      bodyBytes: wholeNumber("--body-bytes", values["body-bytes"], 1_100, 100_000),
      eventIds: asEventIds(values["event-ids"]),
      changeEvery: wholeNumber("--change-every", values["change-every"], 1, 1_000),
      historyRows: wholeNumber("--history-rows", values["history-rows"], 1, 50_000_000),
      historyBodyBytes: wholeNumber("--history-body-bytes", values["history-body-bytes"], 200, 10_000),
      parts: new Set([
        ...parts.filter((part) => part !== "history" || !values["skip-history"]),
        ...(values.against ? (["tollgate-before"] as const) : []),
      ]),
      against: values.against ?? null,
      databaseUrl: values["database-url"] ?? null,
      profile: values.profile,
    };
  });
}

function asEventIds(kind: string): Options["eventIds"] {
  if (kind === "stripe" || kind === "random") return kind;
  throw new Error("--event-ids: expected stripe or random");
}
