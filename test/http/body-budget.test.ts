import { describe, expect, it } from "vitest";
import { BodyBudget } from "../../src/http/body-budget.ts";

describe("BodyBudget", () => {
  it("drops the body that has been read for the longest time", () => {
    const abandoned: number[] = [];
    const readers = [1, 2, 3].map((n) => ({ abandon: () => abandoned.push(n) }));
    const budget = new BodyBudget(100);
    budget.add(readers[0] as (typeof readers)[0], 60);
    budget.add(readers[1] as (typeof readers)[0], 40);
    expect(abandoned).toEqual([]);
    budget.add(readers[2] as (typeof readers)[0], 10);
    expect(abandoned).toEqual([1]);
    budget.add(readers[2] as (typeof readers)[0], 50);
    expect(abandoned).toEqual([1]);
    budget.add(readers[2] as (typeof readers)[0], 1);
    expect(abandoned).toEqual([1, 2]);
  });

  it("reuses released bytes", () => {
    const budget = new BodyBudget(100);
    const reader = { abandon: () => expect.unreachable() };
    for (let n = 0; n < 10; n += 1) {
      budget.add(reader, 100);
      budget.release(reader);
      budget.release(reader);
    }
  });

  it("drops a single body that is larger than the budget", () => {
    let isAbandoned = false;
    const budget = new BodyBudget(100);
    budget.add(
      {
        abandon: () => {
          isAbandoned = true;
        },
      },
      101,
    );
    expect(isAbandoned).toBe(true);
  });
});
