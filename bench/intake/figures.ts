import { compareWithGoals, type Figure, type Goal } from "../shared/figures.ts";
import { median } from "../shared/statistics.ts";
import type { Results } from "./results.ts";

const GOALS: readonly Goal<Results>[] = [
  {
    figure: "events/s, compared with @stripe/sync-engine",
    unit: " x",
    digits: 2,
    atLeast: 8,
    value: (results) => ratioTo(results, "sync-engine"),
  },
  {
    figure: "events/s, compared with @supabase/stripe-sync-engine",
    unit: " x",
    digits: 2,
    atLeast: 8,
    value: (results) => ratioTo(results, "stripe-sync-engine"),
  },
  {
    figure: "events/s, compared with the bare SQL in one statement",
    unit: " x",
    digits: 2,
    atLeast: 0.75,
    value: (results) => ratioTo(results, "sql-one-statement"),
  },
  {
    figure: "repeats of events already applied",
    unit: "/s",
    digits: 0,
    atLeast: 20_000,
    value: (results) => results.duplicates?.perSecond,
  },
  {
    figure: "p99 at 1,000 events/s offered",
    unit: " ms",
    digits: 1,
    atMost: 10,
    value: (results) => results.offered?.p99Ms,
  },
  {
    figure: "events/s lost with a long log, compared with an empty one",
    unit: " %",
    digits: 1,
    atMost: 10,
    value: lostToHistory,
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
    median(results.history?.rounds[name]?.map((one) => one.eventsPerSecond) ?? []);
  return 100 * (1 - rate("tollgate-filled") / rate("tollgate-empty"));
}

function ratioTo(results: Results, name: string): number | null | undefined {
  return results.sideBySide?.contenders.find((one) => one.name === name)?.tollgateIs;
}
