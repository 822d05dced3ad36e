import type { Goal } from "../shared/figures.ts";
import type { Inspected } from "./inspect.ts";

const SCORE = 95;
const SCRIPT_KILOBYTES = 130;

/** What each of the pages is to reach. */
export function goals(pages: readonly Inspected[]): Goal<Inspected[]>[] {
  return pages.flatMap(({ name }): Goal<Inspected[]>[] => {
    const find = (all: Inspected[]) => all.find((page) => page.name === name);
    const score = (category: keyof Inspected["scores"]): Goal<Inspected[]> => ({
      figure: `${name}: ${category}`,
      unit: "",
      digits: 0,
      atLeast: SCORE,
      value: (all) => find(all)?.scores[category],
    });
    return [
      score("performance"),
      score("accessibility"),
      score("best-practices"),
      {
        figure: `${name}: scripts of the first load`,
        unit: " KB",
        digits: 1,
        atMost: SCRIPT_KILOBYTES,
        value: (all) => (find(all)?.scriptBytes ?? 0) / 1000,
      },
    ];
  });
}
