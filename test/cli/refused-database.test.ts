import { expect, it } from "vitest";
import { emptyDatabase } from "../support/database.ts";
import { serverVariables } from "../support/variables.ts";
import { tollgateProcessIn } from "./tollgate.ts";

const EXAMPLE = "e.g. DATABASE_URL=postgres://user:password@localhost:5432/tollgate";

it("ends when PostgreSQL refuses to create the tables, exit status 1", async () => {
  const test = await emptyDatabase();
  const role = `refused_${process.pid}`;
  await test.rows(`create role ${role} login password 'refused'`);
  const url = Object.assign(new URL(test.url), { username: role, password: "refused" });
  const tollgate = tollgateProcessIn(serverVariables(url.href));
  expect(await tollgate("users", "create", "--count", "1")).toEqual({
    code: 1,
    stdout: "",
    stderr: `DATABASE_URL: PostgreSQL refused: permission denied for schema public: the role must own the database, ${EXAMPLE}\n`,
  });
  await test.drop();
  const other = await emptyDatabase();
  await other.rows(`drop role ${role}`);
  await other.drop();
});

it("ends when PostgreSQL allows a single connection, exit status 1", async () => {
  const test = await emptyDatabase();
  const role = `single_${process.pid}`;
  await test.rows(`create role ${role} login connection limit 1 password 'single'`);
  const url = Object.assign(new URL(test.url), { username: role, password: "single" });
  const tollgate = tollgateProcessIn(serverVariables(url.href));
  expect(await tollgate("users", "create", "--count", "1")).toEqual({
    code: 1,
    stdout: "",
    stderr: `DATABASE_URL: the database cannot be reached: too many connections for role "${role}", ${EXAMPLE}\n`,
  });
  await test.rows(`drop role ${role}`);
  await test.drop();
});

it("names DATABASE_URL where another program has its tables, and leaves them alone", async () => {
  const test = await emptyDatabase();
  await test.rows('create table "user" (id int)');
  const tollgate = tollgateProcessIn(serverVariables(test.url));
  expect(await tollgate("users", "create", "--count", "1")).toEqual({
    code: 1,
    stdout: "",
    stderr: `DATABASE_URL: PostgreSQL refused: relation "user" already exists: it has tables of another program, or of a restore that was interrupted, ${EXAMPLE}\n`,
  });
  expect(await test.rows('select * from "user"')).toEqual([]);
  await test.drop();
});
