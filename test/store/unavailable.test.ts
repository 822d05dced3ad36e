import { expect, it } from "vitest";
import { Refusal } from "../../src/domain/refusal.ts";
import { DatabaseUnavailable } from "../../src/store/database.ts";

/** As a bundle of the pages has them. */
const copies = {
  DatabaseUnavailable: class extends Error {
    override name = "DatabaseUnavailable";
  },
  Refusal: class extends Error {
    override name = "Refusal";
  },
};

it("what crosses from a bundle to the server is known by its name", () => {
  expect(new copies.DatabaseUnavailable()).toBeInstanceOf(DatabaseUnavailable);
  expect(new copies.Refusal()).toBeInstanceOf(Refusal);
  expect(new copies.Refusal()).not.toBeInstanceOf(DatabaseUnavailable);
  expect(new Error("Refusal")).not.toBeInstanceOf(Refusal);
  for (const other of [null, undefined, "Refusal", { name: "Refusal" }])
    expect(other instanceof Refusal).toBe(false);
});
