import { describe, expect, it } from "vitest";
import { z } from "zod";
import { invalidInput, whetherMissing } from "../../../src/domain/refusals/invalid-input.ts";
import { PAGE } from "../../../src/operations/page.ts";

describe("invalidInput", () => {
  it.each([
    [101, "limit: expected at most 100"],
    [2 ** 53, "limit: expected at most 100"],
    [1e30, "limit: expected at most 100"],
    [0, "limit: expected at least 1"],
    [-(2 ** 53), "limit: expected at least 1"],
    [-1e30, "limit: expected at least 1"],
    [1.5, "limit: expected a whole number"],
  ])("names the field's own bound for %d", (limit, sentence) => {
    expect(sentenceFor(z.object(PAGE), { limit })).toBe(sentence);
  });

  it("names the first of several fields that are out of bounds", () => {
    const Seats = z.object({ min: z.int().max(5), max: z.int().max(500) });
    expect(sentenceFor(Seats, { min: 6, max: 1e30 })).toBe("min: expected at most 5");
    expect(sentenceFor(Seats, { min: 1e30, max: 501 })).toBe("min: expected at most 5");
  });

  it("names the largest exact number where a field has no bound of its own", () => {
    expect(sentenceFor(z.object({ seats: z.int().min(1) }), { seats: 1e30 })).toBe(
      "seats: expected at most 9007199254740991",
    );
  });
});

function sentenceFor(schema: z.ZodType, input: unknown): string | undefined {
  const { error } = schema.safeParse(input, { error: whetherMissing });
  return error && invalidInput(error).message;
}
