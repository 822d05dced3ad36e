import { digits, NONE, newTable } from "./table.ts";

/**
 * What was promised, what was measured, and whether it was reached; `null` for what was left out of the run.
 */
export type Figure = { figure: string; target: string; measured: string | null; reached: boolean | null };

export type Goal<Results> = {
  figure: string;
  unit: string;
  digits: number;
  atLeast?: number;
  atMost?: number;
  value(results: Results): number | null | undefined;
};

export function compareWithGoals<Results>(goals: readonly Goal<Results>[], results: Results): Figure[] {
  return goals.map((goal) => {
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

export function figuresTable(figures: readonly Figure[]): string {
  const table = newTable(["figure", "target", "measured", "reached"], 0);
  for (const { figure, target, measured, reached } of figures) {
    table.push([figure, target, measured ?? NONE, reached === null ? NONE : reached ? "yes" : "NO"]);
  }
  return `Figures to reach\n${table}`;
}
