import { newTable, shown } from "../shared/table.ts";
import type { Inspected } from "./inspect.ts";
import type { Options } from "./options.ts";

/** The table for people, and what costs points. */
export function report(pages: readonly Inspected[], { rounds }: Options): string {
  const table = newTable(["page", "performance", "accessibility", "best practices", "scripts KB"], 4);
  for (const { name, scores, scriptBytes } of pages) {
    table.push([
      name,
      shown(scores.performance),
      shown(scores.accessibility),
      shown(scores["best-practices"]),
      shown(scriptBytes / 1000, 1),
    ]);
  }
  const problems = pages.flatMap(({ name, problems }) => problems.map((problem) => `  ${name}: ${problem}`));
  const below = problems.length === 0 ? "" : `\n\nBelow 90 of 100 in the last round:\n${problems.join("\n")}`;
  return `Lighthouse, medians of ${rounds} rounds\n${table}${below}`;
}
