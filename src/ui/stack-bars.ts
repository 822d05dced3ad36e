type Segment = { series: number; y: number; height: number };

export type Bars = {
  /** What the highest line of the scale stands for: a number that is easily halved. */
  top: number;
  /** From the ground up, per column; what is nothing has no segment. */
  columns: Segment[][];
};

/** What is there at all is seen, however much there is of something else. */
const MIN_HEIGHT = 3;

/**
 * Stacks each column's numbers upon each other.
 * @param height of the drawing, in pixels; `y` is counted from its top
 */
export function stackBars(columns: readonly (readonly number[])[], height: number): Bars {
  const top = scaleFor(Math.max(0, ...columns.map((numbers) => sum(numbers))));
  return { top, columns: columns.map((numbers) => stack(numbers, { top, height })) };
}

function stack(numbers: readonly number[], { top, height }: { top: number; height: number }): Segment[] {
  const heights = numbers.map((count) => (count > 0 ? Math.max(MIN_HEIGHT, (count / top) * height) : 0));
  // What the least took too much of is given back by the largest.
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

function scaleFor(most: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, most)));
  return power * (STEPS.find((step) => step * power >= most) ?? 10);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
