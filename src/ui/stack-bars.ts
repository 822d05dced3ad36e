type Segment = { series: number; y: number; height: number };

export type Bars = {
  /** The value of the scale's highest line, which is easily halved. */
  top: number;
  /** Per column, from the bottom up; a count of zero has no segment. */
  columns: Segment[][];
};

/** In pixels, so that a small count stays visible beside a large one. */
const MIN_HEIGHT = 3;

/** Stacks the counts of each column. @param height of the chart, in pixels; `y` is measured from its top */
export function stackBars(columns: readonly (readonly number[])[], height: number): Bars {
  const top = scaleFor(Math.max(0, ...columns.map((numbers) => sum(numbers))));
  return { top, columns: columns.map((numbers) => stack(numbers, { top, height })) };
}

function stack(numbers: readonly number[], { top, height }: { top: number; height: number }): Segment[] {
  const heights = numbers.map((count) => (count > 0 ? Math.max(MIN_HEIGHT, (count / top) * height) : 0));
  // The largest segment makes up for small ones that were enlarged.
  const excess =
    sum(heights) - Math.max((sum(numbers) / top) * height, MIN_HEIGHT * heights.filter(Boolean).length);
  const largest = heights.indexOf(Math.max(...heights));
  let y = height;
  return heights
    .map((rawHeight, series) => {
      const stackedHeight = series === largest ? rawHeight - Math.max(0, excess) : rawHeight;
      y -= stackedHeight;
      return { series, y, height: stackedHeight };
    })
    .filter((segment) => segment.height > 0);
}

const STEPS = [1, 2, 4, 6, 10];

function scaleFor(max: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, max)));
  return power * (STEPS.find((step) => step * power >= max) ?? 10);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
