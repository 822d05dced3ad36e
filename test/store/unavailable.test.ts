import { expect, it } from "vitest";
import { Refusal } from "../../src/domain/refusals/refusal.ts";
import { DatabaseUnavailable } from "../../src/store/database.ts";

/** As the pages' bundle defines them. */
const copies = {
  DatabaseUnavailable: class extends Error {
    override name = "DatabaseUnavailable";
  },
  Refusal: class extends Error {
    get [Symbol.for("tollgate.refusal")]() {
      return true;
    }
  },
};

it("recognises errors that come from another bundle", () => {
  expect(new copies.DatabaseUnavailable()).toBeInstanceOf(DatabaseUnavailable);
  expect(new copies.Refusal()).toBeInstanceOf(Refusal);
  expect(new copies.Refusal()).not.toBeInstanceOf(DatabaseUnavailable);
  expect(Object.assign(new Error("x"), { name: "Refusal" })).not.toBeInstanceOf(Refusal);
  for (const thrown of [null, undefined, "Refusal", { name: "Refusal" }])
    expect(thrown instanceof Refusal).toBe(false);
});
