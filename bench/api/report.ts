import { type Figure, figuresTable } from "../shared/figures.ts";
import { NONE, newTable, shown } from "../shared/table.ts";
import { type ContenderName, ROUTE, SURFACES, WITH_PAGES } from "./contenders.ts";
import type { Options } from "./options.ts";
import { OFFERED_PER_SECOND, type Standing } from "./side-by-side.ts";

/** The tables for people. */
export function report(standings: Standing[], figures: readonly Figure[], options: Options): string {
  return [
    ...TABLES.flatMap(({ title, names }) => {
      const some = standings.filter(({ name }) => names.includes(name));
      return some.length === 0 ? [] : [sideBySide(title, some, options), roundByRound(some, options)];
    }),
    offered(standings),
    figuresTable(figures),
  ]
    .filter(Boolean)
    .join("\n\n");
}

const TABLES: readonly { title: string; names: readonly ContenderName[] }[] = [
  { title: "GET /api/subscriptions?limit=10", names: ROUTE },
  { title: "Ten notifications at most, over each surface and without a gate", names: SURFACES },
  { title: "GET /api/subscriptions?limit=10 beside the pages", names: WITH_PAGES },
];

function sideBySide(title: string, standings: Standing[], options: Options): string {
  const table = newTable(
    [
      "contender",
      "calls/s",
      "p50 ms",
      "p99 ms",
      "Tollgate is",
      "CPU us/call: server",
      "PostgreSQL",
      "Tollgate costs",
    ],
    7,
  );
  for (const standing of standings) {
    table.push([
      standing.name,
      shown(standing.callsPerSecond),
      shown(standing.p50Ms, 1),
      shown(standing.p99Ms, 1),
      standing.tollgateIs ? `${shown(standing.tollgateIs.median, 2)} x` : NONE,
      shown(standing.serverMicrosPerCall),
      shown(standing.postgresMicrosPerCall),
      standing.tollgateCosts ? `${shown(standing.tollgateCosts.median)} us` : NONE,
    ]);
  }
  return `${title}: ${options.connections} connections, medians of ${options.rounds} rounds of ${options.seconds} s\n${table}`;
}

function roundByRound(standings: Standing[], { rounds }: Options): string {
  const numbers = Array.from({ length: rounds }, (_, index) => index);
  const table = newTable(["round", ...numbers.map((index) => String(index + 1))], rounds);
  for (const standing of standings) {
    table.push([
      `${standing.name}: calls/s`,
      ...numbers.map((index) => shown(standing.rounds[index]?.callsPerSecond)),
    ]);
  }
  for (const standing of standings) {
    if (!standing.tollgateIs) continue;
    const ratios = standing.tollgateIs.rounds;
    table.push([
      `${standing.comparedWith} / ${standing.name}`,
      ...numbers.map((index) => `${shown(ratios[index], 2)} x`),
    ]);
  }
  for (const standing of standings) {
    table.push([
      `${standing.name}: CPU us/call`,
      ...numbers.map((index) => shown(standing.rounds[index]?.serverMicrosPerCall)),
    ]);
  }
  return `Round by round\n${table}`;
}

function offered(standings: Standing[]): string {
  const table = newTable(["contender", "p50 ms", "p99 ms", "longest ms", "sender late, p99 ms"], 4);
  for (const { name, offered } of standings) {
    if (!offered) continue;
    const { p50Ms, p99Ms, maxMs, senderLateMs } = offered;
    table.push([name, ...[p50Ms, p99Ms, maxMs, senderLateMs].map((value) => shown(value, 1))]);
  }
  return table.length === 0 ? "" : `Under light load: ${OFFERED_PER_SECOND} calls/s offered\n${table}`;
}
