import { beforeAll, describe, expect, it } from "vitest";
import { freshDatabase } from "../support/database.ts";
import { freshServer } from "../support/fresh-server.ts";
import { sendRequest } from "../support/http.ts";
import { createUser, type TestUser } from "../support/people.ts";
import { serverVariables } from "../support/variables.ts";
import { type Tollgate, tollgateIn } from "./tollgate.ts";

const { test, server } = freshServer();
let tollgate: Tollgate;
beforeAll(async () => {
  tollgate = tollgateIn(serverVariables(test.url));
});

/** What an administrator alone may see. */
const log = async ({ cookie }: TestUser) =>
  (await sendRequest(server.url, "GET", "/api/webhook-deliveries", { cookie })).status;

describe("users promote and demote", () => {
  it("make the first administrator, effective from a running server's next request", async () => {
    const person = await createUser(test, "Ada");
    expect(await log(person)).toBe(403);
    expect(await tollgate("users", "promote", person.email)).toEqual({
      code: 0,
      stdout: `${person.email} is now an administrator\n`,
      stderr: "",
    });
    expect(await log(person)).toBe(200);
    expect(await tollgate.json("users", "promote", `  ${person.email.toUpperCase()} `)).toMatchObject({
      id: person.id,
      email: person.email,
      name: "Ada",
      role: "admin",
    });

    const otherUser = await createUser(test);
    await tollgate("users", "promote", otherUser.email);
    const { code, stdout } = await tollgate("users", "demote", person.email);
    expect([code, stdout]).toEqual([0, `${person.email} is now an ordinary user\n`]);
    expect([await log(person), await log(otherUser)]).toEqual([403, 200]);
    // Having nothing to do is not an error.
    expect((await tollgate("users", "demote", person.email)).code).toBe(0);
  });

  it("never demote the last administrator, also when several are demoted at once", async () => {
    await test.rows(`update "user" set role = 'user'`);
    const people = [await createUser(test), await createUser(test), await createUser(test)];
    for (const { email } of people) await tollgate("users", "promote", email);
    const runs = await Promise.all(people.map(({ email }) => tollgate("users", "demote", email)));
    expect(runs.map(({ code }) => code).sort()).toEqual([0, 0, 1]);
    expect(runs.find(({ code }) => code === 1)).toEqual({
      code: 1,
      stdout: "",
      stderr: "The last administrator cannot be demoted or deleted\n",
    });
    expect(await test.rows(`select count(*)::int as left from "user" where role = 'admin'`)).toEqual([
      { left: 1 },
    ]);
    const [last] = await test.rows<{ email: string }>(`select email from "user" where role = 'admin'`);
    expect(await tollgate.json("users", "demote", last?.email as string)).toEqual({
      error: "The last administrator cannot be demoted or deleted",
    });
  });

  it.each(["promote", "demote"])("%s fails for an unknown email address", async (verb) => {
    expect(await tollgate("users", verb, "nobody@example.com")).toEqual({
      code: 1,
      stdout: "",
      stderr: "No such user\n",
    });
    const result = await tollgate("users", verb, "nobody@example.com", "--json");
    expect([result.code, JSON.parse(result.stdout)]).toEqual([1, { error: "No such user" }]);
  });
});

describe("users list", () => {
  it("lists all users, oldest first, as a table or as JSON", async () => {
    const emails = (
      await test.rows<{ email: string }>(`select email from "user" order by created_at, id`)
    ).map(({ email }) => email);
    const listed = await tollgate.json("users", "list");
    expect(listed.map((user: { email: string }) => user.email)).toEqual(emails);
    expect(Object.keys(listed[0]).sort()).toEqual([
      "createdAt",
      "email",
      "emailVerified",
      "id",
      "locale",
      "name",
      "onboarded",
      "preferences",
      "role",
      "updatedAt",
    ]);
    expect((await tollgate.json("users", "list", "--limit", "2")).length).toBe(2);
    const { code, stdout, stderr } = await tollgate("users", "list");
    expect([code, stderr]).toEqual([0, ""]);
    const [head, ...lines] = stdout.trimEnd().split("\n");
    expect(head).toMatch(/^id +email +name +role +since$/);
    expect(lines.map((line) => emails.find((email) => line.includes(email)))).toEqual(emails);
  });

  it("reads several pages, up to --limit", async () => {
    await test.rows(
      `insert into "user" (id, name, email) select 'many_' || n, 'N', 'many_' || n || '@example.com'
       from generate_series(1, 250) n`,
    );
    const [{ count } = { count: 0 }] = await test.rows<{ count: number }>(
      `select count(*)::int as count from "user"`,
    );
    const ids = async (...args: string[]) =>
      (await tollgate.json("users", "list", ...args)).map(({ id }: { id: string }) => id);
    expect(new Set(await ids("--limit", "1000")).size).toBe(count);
    expect(await ids("--limit", "201")).toHaveLength(201);
    expect(await ids()).toHaveLength(100);
  });

  it("escapes control characters in names", async () => {
    await test.rows(
      `insert into "user" (id, name, email, created_at)
       values ('evil', E'\\x1b[2J\\x1b]0;owned\\x07\\u202Etfel ot thgir', 'evil@example.com', '2000-01-01')`,
    );
    const { stdout } = await tollgate("users", "list");
    expect(stdout).toContain("evil@example.com");
    for (const control of ["\x1b", "\x07", "\u202e"]) expect(stdout).not.toContain(control);
  });

  it("prints a sentence when there are no users", async () => {
    const empty = await freshDatabase(0);
    const none = tollgateIn(serverVariables(empty.url));
    expect(await none("users", "list")).toEqual({ code: 0, stdout: "no users\n", stderr: "" });
    expect(await none.json("users", "list")).toEqual([]);
    await empty.drop();
  });
});

describe("keys revoke", () => {
  it("revokes any user's key, effective from a running server's next request", async () => {
    const { cookie } = await createUser(test);
    const make = async () =>
      (await sendRequest(server.url, "POST", "/api/api-keys", { cookie, body: { name: "CI" } })).body;
    const statusWith = async (key: string) =>
      (await sendRequest(server.url, "GET", "/api/users/me", { key })).status;
    const [revoked, active] = [await make(), await make()];
    expect([await statusWith(revoked.key), await statusWith(active.key)]).toEqual([200, 200]);
    expect(await tollgate("keys", "revoke", revoked.id)).toEqual({
      code: 0,
      stdout: `${revoked.id} is revoked\n`,
      stderr: "",
    });
    expect([await statusWith(revoked.key), await statusWith(active.key)]).toEqual([401, 200]);
    expect(await tollgate.json("keys", "revoke", active.id)).toEqual({ id: active.id, revoked: true });
    expect(await statusWith(active.key)).toBe(401);

    const secondRevocation = await tollgate("keys", "revoke", revoked.id);
    expect([secondRevocation.code, secondRevocation.stdout]).toEqual([1, ""]);
    expect(secondRevocation.stderr).toBe("No such API key\n");
  });
});

describe("the usage of the account commands", () => {
  it.each([
    ["users list --limit 0", /--limit.*from 1 to 1000/],
    ["users list --limit 1001", /from 1 to 1000/],
    ["users list everybody", /too many arguments/],
    ["users promote", /missing required argument 'email'/],
    ["users demote", /missing required argument 'email'/],
    ["users delete", /missing required argument 'email'/],
    ["users promote a@example.com b@example.com", /too many arguments/],
    ["users promote a@example.com --role admin", /unknown option/],
    ["keys", /Usage: tollgate keys/],
    ["keys revoke", /missing required argument 'id'/],
    ["keys revoke tg_abcdefgh", /Expected an id such as/],
    ["keys frobnicate", /unknown command/],
  ])("is reported on stderr for wrong arguments (%s), exit status 2", async (command, message) => {
    const { code, stdout, stderr } = await tollgate(...command.split(" "));
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(message);
  });

  it.each([
    ["users", ["list", "promote", "demote", "disable-two-factor", "delete", "create"]],
    ["users list", ["--limit", "--json", "npm run -s tollgate -- users list"]],
    ["users promote", ["<email>", "--json", "npm run -s tollgate -- users promote somebody@example.com"]],
    ["users demote", ["<email>", "--json", "npm run -s tollgate -- users demote somebody@example.com"]],
    ["users delete", ["<email>", "--json", "npm run -s tollgate -- users delete somebody@example.com"]],
    ["keys", ["revoke"]],
    ["keys revoke", ["<id>", "--json", "npm run -s tollgate -- keys revoke"]],
  ])("is printed by %s --help", async (command, words) => {
    const { code, stdout, stderr } = await tollgate(...command.split(" "), "--help");
    expect([code, stderr]).toEqual([0, ""]);
    for (const word of words) expect(stdout).toContain(word);
  });
});
