import { expect, it } from "vitest";
import { emptyDatabase } from "../support/database.ts";
import { serverVariables } from "../support/variables.ts";
import { tollgateProcessIn } from "./tollgate.ts";

it("ends when PostgreSQL refuses to create the tables, exit status 1", async () => {
  const test = await emptyDatabase();
  const role = `refused_${process.pid}`;
  await test.rows(`create role ${role} login password 'refused'`);
  const url = Object.assign(new URL(test.url), { username: role, password: "refused" });
  const tollgate = tollgateProcessIn(serverVariables(url.href));
  expect(await tollgate("users", "create", "--count", "1")).toEqual({
    code: 1,
    stdout: "",
    stderr: "permission denied for schema public\n",
  });
  await test.drop();
  const other = await emptyDatabase();
  await other.rows(`drop role ${role}`);
  await other.drop();
});
