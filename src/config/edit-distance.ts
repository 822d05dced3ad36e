/** How many characters have to be inserted, removed, replaced, or swapped with the next one (Damerau-Levenshtein): SMPT is one slip. */
export function editDistance(from: string, to: string): number {
  let previous: number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, n) => n);
  for (const [n, char] of [...from].entries()) {
    const next = [n + 1];
    for (const [m, other] of [...to].entries()) {
      const isSwapped = char === to[m - 1] && from[n - 1] === other;
      next.push(
        Math.min(
          (row[m + 1] as number) + 1,
          (next[m] as number) + 1,
          (row[m] as number) + (char === other ? 0 : 1),
          isSwapped ? (previous[m - 1] as number) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    previous = row;
    row = next;
  }
  return row.at(-1) as number;
}
