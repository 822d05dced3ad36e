import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { startFailure } from "../../src/runtime/start-failure.ts";
import { migrationFailure } from "../../src/store/migration-files.ts";
import { freshDatabase } from "../support/database.ts";
import { PROCESS_VARIABLES, serverVariables } from "../support/variables.ts";

const SERVER = resolve(import.meta.dirname, "../../src/server.ts");

it("names DATABASE_URL in one line when PostgreSQL refuses the role, exit status 1", async () => {
  const test = await freshDatabase(0);
  const url = new URL(test.url);
  url.username = "nobody_here";
  const env = { ...PROCESS_VARIABLES, ...serverVariables(url.href), PORT: "0", LOG_LEVEL: "silent" };
  await expect(promisify(execFile)(process.execPath, [SERVER], { env })).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^DATABASE_URL: PostgreSQL refused: .*nobody_here.*, e\.g\. DATABASE_URL=postgres:.*\n$/,
    ),
  });
  await test.drop();
});

it.each([
  ["42501", "permission denied for schema public", "the role must own the database"],
  [
    "3F000",
    "no schema has been selected to create in",
    "the role's search_path must name a schema in which it may create tables",
  ],
  [
    "42P07",
    'relation "user" already exists',
    "it has tables of another program, or of a restore that was interrupted",
  ],
])("says what must hold when PostgreSQL refuses to create the tables: %s", (code, message, remedy) => {
  const refused = Object.assign(new Error(message), { severity: "ERROR", code });
  for (const error of [refused, migrationFailure(refused, "0002_accounts.sql", "")])
    expect(startFailure(error as Error, "DATABASE_URL")).toBe(
      `DATABASE_URL: PostgreSQL refused: ${message}: ${remedy}, e.g. DATABASE_URL=postgres://user:password@localhost:5432/tollgate`,
    );
});

it("blames no DATABASE_URL for a mistake in a migration", () => {
  const error = Object.assign(new Error("syntax error"), { severity: "ERROR", code: "42601", position: "9" });
  expect(startFailure(migrationFailure(error, "9000_task.sql", "select 1\n,") as Error, "DATABASE_URL")).toBe(
    "src/store/migrations/9000_task.sql, line 2: syntax error",
  );
});

it.each([
  ["DATA_DIR", "DATA_DIR=/var/lib/tollgate"],
  ["DATABASE_URL", "DATABASE_URL=postgres://user:password@localhost:5432/tollgate"],
] as const)("names %s, with an example, when the database cannot be reached", (variable, example) => {
  const error = Object.assign(new Error("Connection terminated"), { name: "DatabaseUnavailable" });
  expect(startFailure(error, variable)).toBe(
    `${variable}: the database cannot be reached: Connection terminated, e.g. ${example}`,
  );
});

it("gives an example of a folder when DATA_DIR cannot be used", () => {
  const error = Object.assign(new Error("EACCES: permission denied"), { code: "EACCES" });
  expect(startFailure(error, "DATABASE_URL")).toBe(
    "DATA_DIR: EACCES: permission denied, e.g. DATA_DIR=/var/lib/tollgate",
  );
});

it("blames no DATA_DIR for a file of the project that cannot be read", () => {
  const path = resolve(import.meta.dirname, "../../src/plugins");
  const message = `EACCES: permission denied, scandir '${path}'`;
  const error = Object.assign(new Error(message), { code: "EACCES", syscall: "scandir", path });
  expect(startFailure(error, "DATABASE_URL")).toBe(
    `${message}: the user that the server runs as must be able to read the project`,
  );
});

it.each(["ENOTFOUND", "EAI_AGAIN"])("names HOST when its name cannot be looked up: %s", (code) => {
  const error = Object.assign(new Error(`getaddrinfo ${code} app.internal`), {
    code,
    syscall: "getaddrinfo",
  });
  expect(startFailure(error, "DATA_DIR")).toBe(
    `HOST or PORT: getaddrinfo ${code} app.internal, e.g. HOST=127.0.0.1`,
  );
});
