import type { Results } from "./results.ts";
import { median } from "./statistics.ts";

/** What was promised, what was measured, and whether it was reached; `null` for what was left out of the run. */
export type Figure = { figure: string; target: string; measured: string | null; reached: boolean | null };

type Goal = {
  figure: string;
  unit: string;
  digits: number;
  atLeast?: number;
  atMost?: number;
  value(results: Results): number | null | undefined;
};

const GOALS: readonly Goal[] = [
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
  return GOALS.map((goal) => {
    const show = (value: number) => `${value.toLocaleString("en", digits(goal.digits))}${goal.unit}`;
    const target =
      goal.atLeast === undefined ? `at most ${show(goal.atMost ?? 0)}` : `at least ${show(goal.atLeast)}`;
    const value = goal.value(results) ?? null;
    return {
      figure: goal.figure,
      target,
      measured: value === null ? null : show(value),
      reached: value === null ? null : value >= (goal.atLeast ?? value) && value <= (goal.atMost ?? value),
    };
  });
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

export function digits(count: number): Intl.NumberFormatOptions {
  return { minimumFractionDigits: count, maximumFractionDigits: count };
}
