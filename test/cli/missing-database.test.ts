import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { emptyDatabase } from "../support/database.ts";
import { serverVariables } from "../support/variables.ts";
import { tollgateIn } from "./tollgate.ts";

const COMMANDS = [
  ["webhooks", "list"],
  ["webhooks", "show", "1"],
  ["webhooks", "retry"],
  ["webhooks", "reconcile", "--dry-run"],
  ["users", "list"],
  ["users", "promote", "somebody@example.com"],
  ["keys", "list"],
];

describe("a command that needs an existing database", () => {
  it.each(COMMANDS)("creates nothing in a mistyped DATA_DIR: %s %s", async (...command) => {
    const folder = join(tmpdir(), "tollgate-mistyped-folder");
    const { code, stdout, stderr } = await tollgateIn({ DATA_DIR: folder })(...command.filter(Boolean));
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toBe(
      `DATA_DIR: there is no database in ${folder}: set DATA_DIR to the server's folder, or run script/server first\n`,
    );
    expect(existsSync(folder)).toBe(false);
  });

  it("creates no tables in an empty database", async () => {
    const empty = await emptyDatabase();
    const { code, stderr } = await tollgateIn(serverVariables(empty.url))("users", "list");
    expect(code).toBe(1);
    expect(stderr).toMatch(/^DATABASE_URL: this database has no Tollgate tables: [^\n]+\n$/);
    expect(await empty.rows("select to_regclass('schema_migration') as found")).toEqual([{ found: null }]);
    await empty.drop();
  });

  it("creates nothing when it is doctor either", async () => {
    const folder = join(tmpdir(), "tollgate-mistyped-folder");
    const { findings } = await tollgateIn({ DATA_DIR: folder, PORT: "1" }).json("doctor");
    expect(findings).toContainEqual({
      check: "database",
      state: "broken",
      detail: `there is none in ${folder}`,
      remedy: "Set DATA_DIR to the server's folder, or run script/server, which creates the database.",
    });
    expect(existsSync(folder)).toBe(false);
  });
});
