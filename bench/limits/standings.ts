import { interruption } from "../shared/interruption.ts";
import { note } from "../shared/note.ts";
import { median } from "../shared/statistics.ts";
import type { Accuracy } from "./accuracy.ts";
import type { BytesPerKey } from "./bytes-per-key.ts";
import { type ContenderName, IN_MEMORY, ON_REDIS } from "./contenders.ts";
import type { Options } from "./options.ts";
import type { Rate } from "./rates.ts";
import { type Turn, takeTurn } from "./turn.ts";

export const RATES = ["hot", "keys", "denied"] as const;

export type RateName = (typeof RATES)[number];

/** Medians of a contender's rounds, and the rounds themselves. What was left out of the run is missing. */
export type Standing = {
  name: ContenderName;
  rates: Partial<Record<RateName, Rates>>;
  bytes?: BytesPerKey;
  /** The median of the rounds' longest. */
  pause?: { ms: number; rounds: number[] };
  accuracy?: Accuracy;
};

type Rates = {
  callsPerSecond: number;
  cpuMicrosPerCall: number;
  redisMicrosPerCall: number | null;
  /** Tollgate's calls/s divided by this contender's: of each round, and the median of those. */
  tollgateIs: { median: number; rounds: number[] };
  rounds: Rate[];
};

type Run = { options: Options; redis: Turn["redis"] };

/** Round by round, and in every round one thing of all contenders before the next thing of any. */
export async function measureAll(run: Run): Promise<Standing[]> {
  const { parts, rounds } = run.options;
  const memory = groupOf(IN_MEMORY);
  const redis = groupOf(ON_REDIS);
  const all = [...memory, ...redis];
  if (parts.has("accuracy")) await eachOnce(all, run, "accuracy");
  if (parts.has("bytes")) await eachOnce(all, run, "bytes");
  for (let round = 1; round <= rounds; round += 1) {
    note(`round ${round} of ${rounds}`);
    if (parts.has("memory")) await rateRound(memory, run);
    if (parts.has("redis")) await rateRound(redis, run);
    if (parts.has("pause")) await pauseRound(all, run);
  }
  return [...standingsOf(memory), ...standingsOf(redis)];
}

type Measured = {
  name: ContenderName;
  rates: Record<RateName, Rate[]>;
  pauses: number[];
  bytes?: BytesPerKey;
  accuracy?: Accuracy;
};

function groupOf(names: readonly ContenderName[]): Measured[] {
  return names.map((name) => ({ name, rates: { hot: [], keys: [], denied: [] }, pauses: [] }));
}

async function eachOnce(
  contenders: Measured[],
  { redis }: Run,
  measure: "accuracy" | "bytes",
): Promise<void> {
  for (const contender of contenders) {
    interruption.throwIfAborted();
    const turn = { contender: contender.name, seconds: 1, redis };
    if (measure === "accuracy") contender.accuracy = await takeTurn({ ...turn, measure });
    else contender.bytes = await takeTurn({ ...turn, measure });
    note(`${contender.name}: ${measure}: ${JSON.stringify(contender[measure])}`);
  }
}

async function rateRound(contenders: Measured[], { options, redis }: Run): Promise<void> {
  for (const measure of RATES) {
    for (const { name, rates } of contenders) {
      interruption.throwIfAborted();
      const rate = await takeTurn({ contender: name, measure, seconds: options.seconds, redis });
      rates[measure].push(rate);
      note(`${name}: ${measure}: ${Math.round(rate.callsPerSecond).toLocaleString("en")}/s`);
    }
  }
}

async function pauseRound(contenders: Measured[], { redis }: Run): Promise<void> {
  for (const { name, pauses } of contenders) {
    interruption.throwIfAborted();
    const { ms } = await takeTurn({ contender: name, measure: "pause", seconds: 1, redis });
    pauses.push(ms);
    note(`${name}: longest pause: ${ms.toFixed(1)} ms`);
  }
}

function standingsOf(group: Measured[]): Standing[] {
  const [tollgate] = group as [Measured];
  return group.map(({ name, rates, pauses, bytes, accuracy }) => ({
    name,
    rates: Object.fromEntries(
      RATES.filter((rate) => rates[rate].length > 0).map((rate) => [
        rate,
        ratesOf(rates[rate], tollgate.rates[rate]),
      ]),
    ),
    ...(bytes && { bytes }),
    ...(pauses.length > 0 && { pause: { ms: median(pauses), rounds: pauses } }),
    ...(accuracy && { accuracy }),
  }));
}

function ratesOf(rounds: Rate[], tollgate: Rate[]): Rates {
  const ratios = rounds.map(
    ({ callsPerSecond }, index) => (tollgate[index]?.callsPerSecond ?? Number.NaN) / callsPerSecond,
  );
  const redis = rounds.map((rate) => rate.redisMicrosPerCall).filter((micros) => micros !== null);
  return {
    callsPerSecond: median(rounds.map((rate) => rate.callsPerSecond)),
    cpuMicrosPerCall: median(rounds.map((rate) => rate.cpuMicrosPerCall)),
    redisMicrosPerCall: redis.length === 0 ? null : median(redis),
    tollgateIs: { median: median(ratios), rounds: ratios },
    rounds,
  };
}
