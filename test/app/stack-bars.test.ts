import { describe, expect, it } from "vitest";
import { stackBars } from "../../src/ui/stack-bars.ts";

const HEIGHT = 100;

describe("stackBars", () => {
  it("stacks each column from the bottom, to scale", () => {
    const { top, columns } = stackBars([[10, 0, 30], [], [0, 0, 0]], HEIGHT);
    expect(top).toBe(40);
    expect(columns).toEqual([
      [
        { series: 0, y: 75, height: 25 },
        { series: 2, y: 0, height: 75 },
      ],
      [],
      [],
    ]);
  });

  it("shows a single failure among thousands", () => {
    const [[failed, successful] = []] = stackBars([[1, 0, 9_999]], HEIGHT).columns;
    expect(failed?.height).toBe(3);
    expect(successful?.y).toBeCloseTo(0);
    expect(successful?.height).toBeCloseTo(97);
  });

  it.each([
    [0, 1],
    [1, 1],
    [3, 4],
    [7, 10],
    [13, 20],
    [480, 600],
    [19_500, 20_000],
  ])("scales a maximum of %i to an axis that halves evenly: %i", (most, top) => {
    expect(stackBars([[most]], HEIGHT).top).toBe(top);
  });

  it("keeps all bars within the height of the chart", () => {
    for (const column of stackBars(
      [
        [1, 1, 1],
        [200, 1, 1],
        [0, 0, 199],
        [66, 66, 66],
      ],
      HEIGHT,
    ).columns) {
      for (const { y, height } of column) {
        expect(y).toBeGreaterThanOrEqual(-0.001);
        expect(y + height).toBeLessThanOrEqual(HEIGHT + 0.001);
      }
    }
  });
});
