import { beforeAll, describe, expect, it } from "vitest";
import { testDatabase } from "../../support/test-database.ts";
import { serverVariables } from "../../support/variables.ts";
import { type Tollgate, tollgateIn } from "../tollgate.ts";

const test = testDatabase(0);
let tollgate: Tollgate;
beforeAll(async () => {
  tollgate = tollgateIn(serverVariables(test.url));
});

describe("users create", () => {
  it("creates users from user_0 up, and leaves existing ones unchanged", async () => {
    expect(await tollgate.json("users", "create", "--count", "3")).toEqual({
      count: 3,
      created: 3,
      existing: 0,
      firstId: "user_0",
      lastId: "user_2",
    });
    await test.rows(`update "user" set name = 'Renamed' where id = 'user_1'`);
    const { code, stdout } = await tollgate("users", "create", "--count", "5000");
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: "user_0 to user_4999: 4997 created, 3 already existed\n",
    });
    expect(
      await test.rows(`select id, name, email, role from "user" where id in ('user_1', 'user_4999')`),
    ).toEqual([
      { id: "user_1", name: "Renamed", email: "user_1@example.com", role: "user" },
      { id: "user_4999", name: "User 4999", email: "user_4999@example.com", role: "user" },
    ]);
  });

  it("uses the given id prefix", async () => {
    expect(await tollgate.json("users", "create", "--count", "2", "--id-prefix", "Trial-")).toMatchObject({
      created: 2,
      lastId: "Trial-1",
    });
    expect(await test.rows(`select email from "user" where id = 'Trial-1'`)).toEqual([
      { email: "trial-1@example.com" },
    ]);
  });

  it("names the users that could not be created, and creates the others", async () => {
    await test.rows("insert into deleted_user (id) values ('gone_1')");
    await test.rows(`insert into "user" (id, name, email) values ('x', 'X', 'gone_2@example.com')`);
    const { code, stderr } = await tollgate("users", "create", "--count", "4", "--id-prefix", "gone_");
    expect(code).toBe(1);
    expect(stderr).toMatch(/^2 of 4 users were not created, the first of them gone_1: /);
    expect(await test.rows(`select id from "user" where id like 'gone%' order by id`)).toEqual([
      { id: "gone_0" },
      { id: "gone_3" },
    ]);
  });
});
