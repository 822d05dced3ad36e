import { type Figure, figuresTable } from "../shared/figures.ts";
import { NONE, newTable, shown } from "../shared/table.ts";
import { CONTENDERS } from "./contenders.ts";
import type { Options } from "./options.ts";
import { RATES, type RateName, type Standing } from "./standings.ts";

const TITLES = {
  memory: "In memory: one call after the other",
  redis: "On Redis: 64 calls under way",
};

/** The tables for people. */
export function report(standings: Standing[], figures: readonly Figure[], options: Options): string {
  const on = (store: "memory" | "redis") => standings.filter(({ name }) => CONTENDERS[name].store === store);
  return [
    sideBySide(TITLES.memory, on("memory"), options),
    sideBySide(TITLES.redis, on("redis"), options),
    cpu(standings),
    roundByRound(standings, options),
    accuracy(standings),
    figuresTable(figures),
  ]
    .filter(Boolean)
    .join("\n\n");
}

function sideBySide(title: string, standings: Standing[], { rounds, seconds }: Options): string {
  if (standings.every(({ rates, bytes, pause }) => !(rates.hot || bytes || pause))) return "";
  const table = newTable(
    [
      "contender",
      "calls/s: one key",
      "Tollgate is",
      "100,000 keys",
      "Tollgate is",
      "denied",
      "Tollgate is",
      "bytes/key",
      "longest pause ms",
    ],
    8,
  );
  for (const { name, rates, bytes, pause } of standings) {
    table.push([
      name,
      ...RATES.flatMap((rate) => [shown(rates[rate]?.callsPerSecond), times(rates[rate]?.tollgateIs.median)]),
      shown(bytes?.bytes),
      shown(pause?.ms, 1),
    ]);
  }
  return `${title}, medians of ${rounds} rounds of ${seconds} s\n${table}`;
}

/** What is left of noise from elsewhere on the machine. */
function cpu(standings: Standing[]): string {
  const table = newTable(["CPU us/call", ...RATES.flatMap((rate) => [LABELS[rate], "in Redis"])], 6);
  for (const { name, rates } of standings) {
    if (!rates.hot) continue;
    const columns = RATES.flatMap((rate) => [rates[rate]?.cpuMicrosPerCall, rates[rate]?.redisMicrosPerCall]);
    table.push([name, ...columns.map((micros) => shown(micros, 2))]);
  }
  return table.length === 0 ? "" : `CPU of a call\n${table}`;
}

function roundByRound(standings: Standing[], { rounds }: Options): string {
  const numbers = Array.from({ length: rounds }, (_, index) => index);
  const table = newTable(["Tollgate is", ...numbers.map((index) => `round ${index + 1}`)], rounds);
  const compared = standings.filter(({ rates }) => rates.hot && rates.hot.tollgateIs.median !== 1);
  for (const rate of RATES) {
    for (const { name, rates } of compared) {
      table.push([
        `${name}: ${LABELS[rate]}`,
        ...numbers.map((index) => times(rates[rate]?.tollgateIs.rounds[index])),
      ]);
    }
  }
  return table.length === 0 ? "" : `Round by round\n${table}`;
}

const LABELS: Record<RateName, string> = { hot: "one key", keys: "100,000 keys", denied: "denied" };

function accuracy(standings: Standing[]): string {
  const table = newTable(
    ["contender", "most admitted / limit", "wrong refusals", "of calls", "error of resetAt, ms"],
    4,
  );
  for (const { name, accuracy } of standings) {
    if (!accuracy) continue;
    table.push([
      name,
      shown(accuracy.mostAdmitted / accuracy.limit, 2),
      shown(accuracy.wrongRefusals),
      shown(accuracy.calls),
      shown(accuracy.resetErrorMs, 1),
    ]);
  }
  return table.length === 0 ? "" : `How exact: 30 in any second\n${table}`;
}

function times(ratio: number | undefined): string {
  return ratio === undefined ? NONE : `${shown(ratio, 2)} x`;
}
