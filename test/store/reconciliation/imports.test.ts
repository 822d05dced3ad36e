import { beforeEach, expect, it } from "vitest";
import {
  advanceImport,
  beginImport,
  dropAbandonedImports,
  finishImport,
} from "../../../src/store/reconciliation/imports.ts";
import { testDatabase } from "../../support/test-database.ts";

const test = testDatabase(0);
beforeEach(() => test.rows("delete from import_run"));

const page = (
  position: string,
  counts: [created: number, updated: number, skipped: number],
  rows: string[],
) => {
  const [created, updated, skipped] = counts;
  return { position, created, updated, skipped, unmatched: rows.map((row) => ({ row })) };
};

it("adds up the pages of each of two imports, and ends one without the other", async () => {
  for (const id of ["one", "two"])
    expect(await beginImport(test.database, id)).toEqual({ position: null, read: 0 });
  await advanceImport(test.database, "one", page("1", [1, 2, 3], ["z", "a"]));
  await advanceImport(test.database, "two", page("7", [9, 9, 9], ["of two"]));
  await advanceImport(test.database, "one", page("2", [10, 20, 30], ["m"]));
  expect(await beginImport(test.database, "one")).toEqual({ position: "2", read: 69 });
  expect(await finishImport(test.database, "one")).toEqual({
    created: 11,
    updated: 22,
    skipped: 33,
    unmatched: [{ row: "z" }, { row: "a" }, { row: "m" }],
  });
  expect(await finishImport(test.database, "one")).toMatchObject({ created: 0, unmatched: [] });
  expect(await finishImport(test.database, "two")).toMatchObject({
    created: 9,
    unmatched: [{ row: "of two" }],
  });
});

it("drops imports that were abandoned a week ago with the rows that they left out", async () => {
  for (const id of ["abandoned", "interrupted", "continued", "slow"]) {
    await beginImport(test.database, id);
    await advanceImport(test.database, id, page("1", [0, 0, 1], [id]));
    const days = id === "interrupted" ? 6 : 8;
    await test.rows("update import_run set updated_at = now() - $2::int * interval '1 day' where id = $1", [
      id,
      days,
    ]);
  }
  await beginImport(test.database, "continued");
  await advanceImport(test.database, "slow", page("2", [1, 0, 0], []));
  await dropAbandonedImports(test.database);
  expect(await test.rows("select import_id as id from import_unmatched order by 1")).toEqual([
    { id: "continued" },
    { id: "interrupted" },
    { id: "slow" },
  ]);
});
