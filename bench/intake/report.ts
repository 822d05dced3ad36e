import { type Figure, figuresTable } from "../shared/figures.ts";
import { median } from "../shared/statistics.ts";
import { NONE, newTable, shown } from "../shared/table.ts";
import { lostToHistory } from "./figures.ts";
import type { Options } from "./options.ts";
import type { Results } from "./results.ts";

/** The tables for people. */
export function report(results: Results, figures: readonly Figure[], options: Options): string {
  return [sideBySide(results, options), tollgateAlone(results), queriesOfLog(results), figuresTable(figures)]
    .filter(Boolean)
    .join("\n\n");
}

function sideBySide({ sideBySide }: Results, options: Options): string {
  if (!sideBySide) return "";
  const table = newTable(
    [
      "contender",
      "events/s",
      "slowest-fastest",
      "p50 ms",
      "p99 ms",
      "Tollgate is",
      "CPU us/event: server",
      "PostgreSQL",
      "log B/event",
    ],
    8,
  );
  for (const contender of sideBySide.contenders) {
    table.push([
      contender.name,
      shown(contender.eventsPerSecond),
      `${shown(contender.slowest)}-${shown(contender.fastest)}`,
      shown(contender.p50Ms, 1),
      shown(contender.p99Ms, 1),
      contender.tollgateIs === null ? NONE : `${shown(contender.tollgateIs, 2)} x`,
      shown(contender.serverMicrosPerEvent),
      shown(contender.postgresMicrosPerEvent),
      shown(contender.walBytesPerEvent),
    ]);
  }
  return `Side by side: ${options.connections} connections, ${shown(options.subscriptions)} subscriptions, medians of ${options.rounds} rounds of ${options.seconds} s\n${table}`;
}

function tollgateAlone(results: Results): string {
  const table = newTable(["Tollgate", "events/s", "p50 ms", "p99 ms", "besides"], 3);
  const { history, duplicates, offered, locked, overload, oldSnapshot, atRest } = results;
  for (const [name, label] of [
    ["tollgate-empty", "empty log"],
    ["tollgate-filled", `${shown(history?.rows)} in the log`],
  ] as const) {
    const rounds = history?.rounds[name];
    if (!history || !rounds) continue;
    const besides =
      name === "tollgate-filled"
        ? `${compared(lostToHistory(results))}; filled in ${shown(history.fillSeconds)} s, ${shown(history.diskMegabytes)} MB on disk`
        : "";
    table.push([
      label,
      shown(median(rounds.map((round) => round.eventsPerSecond))),
      shown(median(rounds.map((round) => round.p50Ms)), 1),
      shown(median(rounds.map((round) => round.p99Ms)), 1),
      besides,
    ]);
  }
  if (duplicates) {
    const { eventsPerSecond, p50Ms, p99Ms } = duplicates;
    table.push(["duplicates only", shown(eventsPerSecond), shown(p50Ms, 1), shown(p99Ms, 1), ""]);
  }
  if (offered) {
    const besides = `longest ${shown(offered.maxMs, 1)} ms; sender itself late by ${shown(offered.senderLateMs, 1)} ms (p99); bare SQL p99 ${shown(offered.sqlP99Ms, 1)} ms`;
    table.push([
      "offered",
      shown(offered.perSecond),
      shown(offered.p50Ms, 1),
      shown(offered.p99Ms, 1),
      besides,
    ]);
  }
  if (locked) {
    for (const [label, rate] of [
      ["none locked", locked.free],
      ["one locked", locked.locked],
    ] as const) {
      table.push([
        label,
        shown(rate.perSecond),
        NONE,
        shown(rate.p99Ms, 1),
        `longest ${shown(rate.maxMs, 1)} ms`,
      ]);
    }
  }
  if (overload) {
    const { bestPerSecond, offeredPerSecond, goodputPerSecond, refused, unsent } = overload;
    const besides = `best ${shown(bestPerSecond)}/s, offered ${shown(offeredPerSecond)}/s; ${shown(refused)} refused, ${shown(unsent)} without a free connection; memory ${shown(overload.residentMegabytesBefore)} to ${shown(overload.residentMegabytesPeak)} MB; normal after ${shown(overload.recoveredAfterSeconds)} s`;
    table.push(["overload", shown(goodputPerSecond), NONE, NONE, besides]);
  }
  if (oldSnapshot) {
    for (const [label, minute] of [
      ["before a snapshot", oldSnapshot.before],
      [`${oldSnapshot.seconds / 60} minutes into it`, oldSnapshot.minutes.at(-1)],
    ] as const) {
      const besides = `open work ${shown(minute?.openWorkKilobytes)} KB, subscriptions ${shown(minute?.subscriptionMegabytes, 1)} MB, outbox ${shown(minute?.outboxMegabytes, 1)} MB`;
      table.push([
        label,
        shown(oldSnapshot.perSecond),
        shown(minute?.p50Ms, 1),
        shown(minute?.p99Ms, 1),
        besides,
      ]);
    }
  }
  if (atRest) {
    const besides = `ready in ${shown(atRest.readyMs / 1e3, 2)} s, the first time in ${shown(atRest.firstReadyMs / 1e3, 2)} s; ${shown(atRest.residentMegabytes)} MB resident`;
    table.push(["at rest", NONE, NONE, NONE, besides]);
  }
  const afterwards = results.sideBySide?.residentMegabytesAfterwards.tollgate;
  if (afterwards !== undefined) {
    table.push(["10 s after full load", NONE, NONE, NONE, `${shown(afterwards)} MB resident`]);
  }
  return table.length === 0 ? "" : `Tollgate alone, medians of the rounds\n${table}`;
}

function queriesOfLog({ history }: Results): string {
  if (!history) return "";
  const table = newTable(["query", "ms", "rows read", "scans"], 3);
  for (const query of history.queries) {
    table.push([query.name, shown(query.ms, 2), shown(query.rowsRead), query.scans.join(", ")]);
  }
  return `Slowest statement of each query, ${shown(history.rows)} deliveries with bodies of ${shown(history.bodyBytes)} bytes\n${table}`;
}

function compared(percentLost: number | null): string {
  if (percentLost === null) return NONE;
  return `${shown(Math.abs(percentLost), 1)} % ${percentLost < 0 ? "faster" : "slower"}`;
}
