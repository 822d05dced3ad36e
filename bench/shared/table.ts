import Table from "cli-table3";

export const NONE = "-";

/** @param numbers how many columns after the first are set to the right */
export function newTable(head: string[], numbers: number) {
  const colAligns = head.map(
    (_, index) => (index > 0 && index <= numbers ? "right" : "left") as "right" | "left",
  );
  return new Table({ head, colAligns, style: { head: [], border: [] } });
}

export function shown(value: number | null | undefined, count = 0): string {
  return value == null ? NONE : value.toLocaleString("en", digits(count));
}

export function digits(count: number): Intl.NumberFormatOptions {
  return { minimumFractionDigits: count, maximumFractionDigits: count };
}
