import { compareWithGoals, type Figure, type Goal } from "../shared/figures.ts";
import { median } from "../shared/statistics.ts";
import type { Results } from "./results.ts";

const GOALS: readonly Goal<Results>[] = [
  {
    figure: "events/s, compared with @stripe/sync-engine",
    unit: " x",
    digits: 2,
    atLeast: 11,
    value: (results) => ratioTo(results, "sync-engine"),
  },
  {
    figure: "events/s, compared with @supabase/stripe-sync-engine",
    unit: " x",
    digits: 2,
    atLeast: 11,
    value: (results) => ratioTo(results, "stripe-sync-engine"),
  },
  {
    figure: "events/s, compared with the bare SQL in one statement (with --body-bytes 4200: 1.00)",
    unit: " x",
    digits: 2,
    atLeast: 1.25,
    value: (results) => ratioTo(results, "sql-one-statement"),
  },
  {
    figure: "repeats of events already applied, compared with first deliveries",
    unit: " x",
    digits: 2,
    atLeast: 2.5,
    value: (results) => results.duplicates?.ratio ?? null,
  },
  {
    figure: "p99 at 1,000 events/s offered, compared with the bare SQL",
    unit: " x",
    digits: 2,
    atMost: 1.5,
    value: (results) => results.offered && results.offered.p99Ms / results.offered.sqlP99Ms,
  },
  {
    figure: "CPU time per event, server and PostgreSQL, compared with --against",
    unit: " x",
    digits: 2,
    atMost: 0.7,
    value: (results) => {
      const now = cpuOf(results, "tollgate");
      const before = cpuOf(results, "tollgate-before");
      return now === null || before === null ? null : now / before;
    },
  },
  {
    figure: "write-ahead log per event",
    unit: " B",
    digits: 0,
    atMost: 2_000,
    value: (results) => contender(results, "tollgate")?.walBytesPerEvent,
  },
  {
    figure: "other subscriptions' events/s while one is locked, compared with none locked",
    unit: " x",
    digits: 2,
    atLeast: 0.9,
    value: (results) => results.locked?.ratio,
  },
  {
    figure: "p99 of other subscriptions' events while one is locked",
    unit: " ms",
    digits: 0,
    atMost: 100,
    value: (results) => results.locked?.locked.p99Ms,
  },
  {
    figure: "applied/s under three times the load, compared with the best",
    unit: " x",
    digits: 2,
    atLeast: 0.85,
    value: (results) => results.overload?.goodputRatio,
  },
  {
    figure: "from the end of the overload to normal",
    unit: " s",
    digits: 0,
    atMost: 5,
    value: (results) => results.overload?.recoveredAfterSeconds,
  },
  {
    figure: "events/s lost with a long log, compared with an empty one",
    unit: " %",
    digits: 1,
    atMost: 5,
    value: lostToHistory,
  },
  {
    figure: "indexes of open work under an old snapshot",
    unit: " KB",
    digits: 0,
    atMost: 64,
    value: (results) => results.oldSnapshot?.minutes.at(-1)?.openWorkKilobytes,
  },
  {
    figure: "server at rest, resident",
    unit: " MB",
    digits: 0,
    atMost: 150,
    value: (results) => results.atRest?.residentMegabytes,
  },
  {
    figure: "from start to ready, embedded database there",
    unit: " s",
    digits: 2,
    atMost: 2,
    value: (results) => results.atRest && results.atRest.readyMs / 1e3,
  },
];

export function figures(results: Results): Figure[] {
  return compareWithGoals(GOALS, results);
}

/** Percent of the empty log's events/s, medians of the rounds; negative when the long log was faster. */
export function lostToHistory(results: Results): number | null {
  if (!results.history) return null;
  const rate = (name: string) =>
    median(results.history?.rounds[name]?.map((round) => round.eventsPerSecond) ?? []);
  return 100 * (1 - rate("tollgate-filled") / rate("tollgate-empty"));
}

function ratioTo(results: Results, name: string): number | null | undefined {
  return contender(results, name)?.tollgateIs;
}

function cpuOf(results: Results, name: string): number | null {
  const standing = contender(results, name);
  if (standing?.serverMicrosPerEvent == null || standing.postgresMicrosPerEvent === null) return null;
  return standing.serverMicrosPerEvent + standing.postgresMicrosPerEvent;
}

function contender({ sideBySide }: Results, name: string) {
  return sideBySide?.contenders.find((standing) => standing.name === name);
}
