import { readCommandLine } from "../shared/command-line.ts";

const PARTS = ["memory", "redis", "bytes", "pause", "accuracy"] as const;

export type Options = {
  rounds: number;
  seconds: number;
  parts: ReadonlySet<(typeof PARTS)[number]>;
};

const HELP = `Usage: script/bench limits [options]

The rate limiter, in memory and on Redis, against rate-limiter-flexible, express-rate-limit, Better Auth's and
@upstash/ratelimit: calls/s of a key that may pass, over 100,000 keys, and of a key that may not; bytes per key; the longest
pause; and how exact they are. Every contender is measured in a process of its own, one at a time, round by round in turn;
what is printed are medians of the rounds, ratios those of neighbours in one round.
The whole result goes to test-results/bench-limits.json. A figure that is missed does not change the exit
status, only a measurement that cannot be trusted does.

  --rounds N           measured rounds of each contender (3)
  --seconds N          length of a round (1); in memory, 100,000 keys are asked for ten times each however long it takes
  --only A,B           only these parts: ${PARTS.join(", ")}
                       ("memory" and "redis": calls/s of those that count there)
  --help               this text
`;

export function readOptions(args: readonly string[]): Options {
  const accepted = { numbers: { rounds: [3, 1, 100], seconds: [1, 1, 60] }, parts: PARTS } as const;
  return readCommandLine(args, HELP, accepted, ({ numbers, parts }) => ({
    ...numbers,
    parts: new Set(parts),
  }));
}
