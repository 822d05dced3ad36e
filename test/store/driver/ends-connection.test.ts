import pg from "pg";
import { expect, it } from "vitest";
import { rethrowClassified } from "../../../src/store/database.ts";

function errorOf(severity: string, code: string): pg.DatabaseError {
  return Object.assign(new pg.DatabaseError("no", 0, "error"), { severity, code });
}

const thrownFor = (error: unknown) => expect(() => rethrowClassified(error));

// PostgreSQL documentation, appendix A. PgBouncer ends sessions with 08P01.
it.each([
  ["ERROR", "53100", "the disk is full"],
  ["ERROR", "53200", "out of memory"],
  ["ERROR", "58030", "the disk is broken"],
  ["ERROR", "25006", "a standby"],
  ["ERROR", "57P01", "stopped by an administrator"],
  ["FATAL", "57P01", "stopped by an administrator, with the session"],
  ["FATAL", "53300", "too many connections"],
  ["FATAL", "28P01", "a wrong password"],
  ["FATAL", "3D000", "no such database"],
  ["FATAL", "08P01", "a pooler that has lost its server"],
  ["PANIC", "XX000", "a crash"],
  ["\u81f4\u547d\u9519\u8bef", "28P01", "a wrong password, translated"],
  ["\u81f4\u547d\u9519\u8bef", "25P03", "an idle transaction that was ended, translated"],
])("takes an error for an unavailable database: %s %s, %s", (severity, code) => {
  const error = errorOf(severity, code);
  thrownFor(error).toThrow(expect.objectContaining({ name: "DatabaseUnavailable", cause: error }));
});

it.each([
  ["ERROR", "08P01", "our own violation of the protocol"],
  ["ERROR", "28000", "a role that may not"],
  ["ERROR", "3D000", "a database that a statement names"],
  ["ERROR", "23505", "a row that exists already"],
  ["ERROR", "25P02", "a statement in a failed transaction"],
  ["ERROR", "40P01", "a deadlock"],
  ["ERROR", "57014", "a canceled statement"],
  ["FEHLER", "40001", "a lost race, translated"],
])("passes on the error of a statement: %s %s, %s", (severity, code) => {
  const error = errorOf(severity, code);
  thrownFor(error).toThrow(error);
});
