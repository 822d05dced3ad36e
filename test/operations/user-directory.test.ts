import { beforeAll, describe, expect, it } from "vitest";
import { listUsers } from "../../src/operations/users/list-users.ts";
import { searchUsers } from "../../src/operations/users/search-users.ts";
import { createSubscription } from "../support/subscriptions.ts";
import { testDatabase } from "../support/test-database.ts";
import { ANONYMOUS, apiKey, createTestContext, refusalOf, session } from "./test-context.ts";

const ADMIN = session("a-1", "admin");

const test = testDatabase(0);
const context = createTestContext(test);
beforeAll(async () => {
  await test.rows(
    `insert into "user" (id, name, email, role, created_at) values
       ('a-1', 'Ada Lovelace', 'ada@example.com', 'admin', '2020-01-01'),
       ('b-2', 'ADA', 'countess@example.com', 'user', '2020-01-02'),
       ('c-3', 'Grace Brewster Hopper', 'hopper@example.com', 'user', '2020-01-03'),
       ('d-4', 'Hope Adams', 'x%_\\y@example.com', 'user', '2020-01-04'),
       ('E-5', 'a-1', 'e@example.com', 'user', '2020-01-05'),
       ('f-6', 'Hop\\%_ing Mad', 'f@example.com', 'user', '2020-01-06')`,
  );
});

type Entry = { id: string; lastSeenAt: Date | null; subscription: object | null };

const search = async (text: string | null, more: object = {}): Promise<string[]> =>
  (await context.call(searchUsers, ADMIN, { search: text, ...more })).items.map(({ id }: Entry) => id);

async function walk(text: string | null, limit: number): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | null = null;
  do {
    const page: { items: Entry[]; nextCursor: string | null } = await context.call(searchUsers, ADMIN, {
      search: text,
      limit,
      cursor,
    });
    ids.push(...page.items.map(({ id }) => id));
    cursor = page.nextCursor;
  } while (cursor !== null);
  return ids;
}

describe("the user search", () => {
  it("matches prefixes of email address, name and last name, each user once and in this order", async () => {
    expect(await search("ada")).toEqual(["a-1", "b-2", "d-4"]);
    expect(await search("hop")).toEqual(["c-3", "f-6", "d-4"]);
    expect(await search("love")).toEqual(["a-1"]);
    expect(await search("countess@ex")).toEqual(["b-2"]);
    expect(await search("da")).toEqual([]);
  });

  it("ignores case and surrounding white space", async () => {
    for (const text of ["ADA LOVE", "ada love", "  Ada Love "]) expect(await search(text)).toEqual(["a-1"]);
    expect(await search("HOPPER@Example.com")).toEqual(["c-3"]);
  });

  it("ignores case beyond ASCII, on a database whose locale is C too", async () => {
    const [database] = await test.rows<{ locale: string }>(
      "select datctype as locale from pg_database where datname = current_database()",
    );
    expect(database?.locale).toBe("C");
    await test.rows(
      `insert into "user" (id, name, email) values ('g-7', 'Özlem ÅNGSTRÖM', 'özlem@example.com')`,
    );
    for (const text of ["özlem å", "ÖZLEM", "ångström", "ÅNGS", "ÖZLEM@"])
      expect(await search(text)).toEqual(["g-7"]);
    await test.rows(`delete from "user" where id = 'g-7'`);
  });

  it("lists an exact id match before all others", async () => {
    expect(await search("a-1")).toEqual(["a-1", "E-5"]);
    expect(await search("E-5")).toEqual(["E-5"]);
    expect(await search("e-5")).toEqual([]);
    expect(await search("a-")).toEqual(["E-5"]);
  });

  it("matches text literally: % and _ are no wildcards", async () => {
    for (const text of ["%", "_", "h%", "_da", "\\", ".*", "a'a", "hop_", "x%y"])
      expect(await search(text)).toEqual([]);
    expect(await search("x%_\\")).toEqual(["d-4"]);
    expect(await search("hop\\%")).toEqual(["f-6"]);
  });

  it("returns pages without gaps or repeats, also with equal names", async () => {
    // Found by their addresses, which sort after the name that the others are found by.
    await test.rows(
      `insert into "user" (id, name, email) select 'z' || n, 'Zoe Zimmer', case when n % 3 = 0 then 'zoz' else 'y' end || n || '@example.com'
       from generate_series(1, 30) n`,
    );
    const all = await walk("zo", 100);
    expect(all).toHaveLength(30);
    expect(new Set(all).size).toBe(30);
    for (const limit of [1, 4, 10, 29, 30]) expect(await walk("zo", limit)).toEqual(all);
    await test.rows(`delete from "user" where name = 'Zoe Zimmer'`);
  });

  it("lists all users, newest first, without a search text", async () => {
    for (const limit of [1, 4, 6, 100])
      expect(await walk(null, limit)).toEqual(["f-6", "E-5", "d-4", "c-3", "b-2", "a-1"]);
  });
});

describe("the users of the directory", () => {
  const entry = async (id: string): Promise<Entry> =>
    (await context.call(searchUsers, ADMIN, { search: id })).items[0];

  it("have the time of their last visit", async () => {
    expect((await entry("b-2")).lastSeenAt).toBeNull();
    await test.rows(
      `insert into session (id, user_id, token, expires_at, updated_at) values
         ('1', 'b-2', '1', '2020-06-01', '2020-05-01Z'), ('2', 'b-2', '2', '2020-07-01', '2020-06-02Z'),
         ('3', 'c-3', '3', '2020-07-01', '2020-06-03Z')`,
    );
    expect((await entry("b-2")).lastSeenAt).toEqual(new Date("2020-06-02T00:00:00Z"));
  });

  it("have their running subscription of the highest plan", async () => {
    const subscribe = (id: string, planId: string, status: string) =>
      createSubscription(test, id, { plan_id: planId, status });
    await subscribe("b-2", "team", "canceled");
    expect((await entry("b-2")).subscription).toBeNull();
    await subscribe("b-2", "pro", "past_due");
    expect((await entry("b-2")).subscription).toEqual({ planId: "pro", status: "past_due" });
    await subscribe("b-2", "team", "active");
    expect((await entry("b-2")).subscription).toEqual({ planId: "team", status: "active" });
    expect((await entry("c-3")).subscription).toBeNull();
  });

  it("have no purchase that was taken back before a subscription that gives access", async () => {
    await createSubscription(test, "c-3", { status: "trialing" });
    const columns = { plan_id: "team", provider_subscription_id: null, is_one_time: true };
    const id = await createSubscription(test, "c-3", columns);
    await test.rows("update subscription set payment_id = 'in_1' where id = $1", [id]);
    await test.rows(
      `insert into payment (provider, provider_payment_id, provider_subscription_id, amount, currency, state, status, occurred_at)
       values ('provider-a', 'in_1', 'in_1', 2000, 'EUR', 'paid', 'paid', now())`,
    );
    expect((await entry("c-3")).subscription).toEqual({ planId: "team", status: "active" });
    await test.rows("update payment set status = 'refunded'");
    expect((await entry("c-3")).subscription).toEqual({ planId: "pro", status: "trialing" });
    expect(await context.call(searchUsers, ADMIN, { search: "c-3" })).toMatchObject({
      items: [{ subscription: { planId: "pro", status: "trialing" } }],
    });
  });
});

it("has cursors for ids of any length and script", async () => {
  const long = (n: number) => `${"🔑".repeat(254)}${n}`;
  await test.rows(
    `insert into "user" (id, name, email, created_at)
     select id, $2, n || '@long.example', '2019-01-01' from unnest($1::text[]) with ordinality as given (id, n)`,
    [[long(1), long(2)], `Long${"🔑".repeat(96)}`],
  );
  expect(await walk("Long", 1)).toEqual([long(1), long(2)]);
  const first = await context.call(listUsers, ADMIN, { limit: 1 });
  expect((await context.call(listUsers, ADMIN, { limit: 1, cursor: first.nextCursor })).items).toMatchObject([
    { id: long(2) },
  ]);
  await test.rows(`delete from "user" where name like 'Long%'`);
});

it("requires an administrator's session", async () => {
  for (const caller of [session("b-2"), apiKey("b-2"), apiKey("a-1", "admin")]) {
    expect(await refusalOf(context.call(searchUsers, caller))).toMatchObject({ code: "forbidden" });
  }
  expect(await refusalOf(context.call(searchUsers, ANONYMOUS))).toMatchObject({ code: "unauthorized" });
});

it("rejects invalid search text and forged cursors", async () => {
  for (const text of ["", "  ", "x".repeat(256), "a\0", "a\u0001b", 7]) {
    expect(await refusalOf(context.call(searchUsers, ADMIN, { search: text }))).toMatchObject({
      code: "invalid_input",
    });
  }
  const { nextCursor } = await context.call(searchUsers, ADMIN, { limit: 1 });
  const places = ["x", "W10", nextCursor, Buffer.from("role.x").toString("base64url")];
  for (const cursor of places) {
    expect(await refusalOf(context.call(searchUsers, ADMIN, { search: "ada", cursor }))).toMatchObject({
      code: "invalid_input",
    });
  }
});
