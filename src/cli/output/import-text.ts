import type { ImportReport, Unmatched } from "../../import/run-import.ts";
import { printable, table } from "./table.ts";

const MAX_SHOWN = 50;

/** What an import has done, for people. */
export function importText(
  { created, updated, skipped, unmatched }: ImportReport,
  { dryRun, payments }: { dryRun: boolean; payments: number | null },
): string {
  const prefix = dryRun ? "would be " : "";
  const counts = `${created} ${prefix}created, ${updated} ${prefix}updated, ${skipped} unchanged, ${unmatched.length} left out${payments === null ? "" : `; ${payments} payments recorded`}`;
  if (unmatched.length === 0) return counts;
  const moreLines =
    unmatched.length > MAX_SHOWN ? [`and ${unmatched.length - MAX_SHOWN} more: see --json`] : [];
  return [counts, "", unmatchedTable(unmatched.slice(0, MAX_SHOWN)), ...moreLines].join("\n");
}

function unmatchedTable(unmatched: readonly Unmatched[]): string {
  return table(
    ["left out", "reason"],
    unmatched.map(({ reason, ...ids }) => [namesOf(ids), printable(reason, 200)]),
  );
}

function namesOf(ids: Record<string, string | number | null>): string {
  const present = Object.entries(ids).flatMap(([key, value]) => {
    if (value === null) return [];
    // The place in a file.
    return typeof value === "number" ? `${key} ${value}` : value;
  });
  return printable(present.join(" "), 120);
}
