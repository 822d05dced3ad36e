import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { arrayLiteral } from "../../../src/store/driver/array-literal.ts";
import { emptyDatabase, type TestDatabase } from "../../support/database.ts";

let test: TestDatabase;
beforeAll(async () => {
  test = await emptyDatabase();
});
afterAll(() => test.drop());

const text = fc
  .oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom(
      "",
      "NULL",
      "null",
      "NuLl",
      "{}",
      "[1:1]",
      "-",
      "+1",
      "a.b:c-d_e",
      '"',
      "\\",
      '\\"',
      ",",
      " ",
      "a\nb",
      "é𝄞",
      "\\x00",
    ),
  )
  .map((any) => any.replaceAll("\0", ""));

it("round-trips values through a PostgreSQL array", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.option(text)), async (values) => {
      const rows = await test.rows("select to_json($1::text[]) as values", [values]);
      expect(rows).toEqual([{ values }]);
    }),
    { numRuns: 300 },
  );
});

it("writes numbers and booleans unquoted", async () => {
  expect(arrayLiteral([1, -2.5, null, 1e21])).toBe("{1,-2.5,null,1e+21}");
  expect(arrayLiteral([2n, Number.NaN])).toBe("{2,NaN}");
  const rows = await test.rows("select to_json($1::float8[]) as numbers, to_json($2::boolean[]) as flags", [
    [1, -2.5, null],
    [true, false],
  ]);
  expect(rows).toEqual([{ numbers: [1, -2.5, null], flags: [true, false] }]);
});
