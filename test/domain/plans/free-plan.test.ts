import { expect, it } from "vitest";
import { freePlan } from "../../../src/domain/plans/free-plan.ts";

const plan = (id: string, amount: number) => ({ id, price: { amount } });

it("is the plan named free, wherever it is listed", () => {
  expect(freePlan([plan("community", 0), plan("pro", 2000), plan("free", 0)])?.id).toBe("free");
});

it("is the first that costs nothing where none is named free", () => {
  expect(freePlan([plan("pro", 2000), plan("community", 0), plan("school", 0)])?.id).toBe("community");
});

it("is none where every plan costs something", () => {
  expect(freePlan([plan("pro", 2000)])).toBeUndefined();
});
