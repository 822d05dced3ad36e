import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import type { Caller } from "../../../src/domain/callers/caller.ts";
import { execute } from "../../../src/operations/operation.ts";
import { listOfUsers } from "../../../src/operations/subscriptions/list-of-users.ts";
import type { Database } from "../../../src/store/database.ts";
import { testLimits } from "../../support/guarded-app.ts";
import { testDatabase } from "../../support/test-database.ts";
import { graphqlApp } from "./graphql-app.ts";
import { queryGraphql, refusals } from "./query-graphql.ts";

const test = testDatabase(120);
let app: Awaited<ReturnType<typeof graphqlApp>>;
let statements: string[] = [];

beforeAll(async () => {
  await test.rows(
    `insert into subscription (id, user_id, provider, provider_subscription_id, plan_id, seats, status,
       cancel_at_period_end, out_of_order, created_at)
     select gen_random_uuid(), 'user_' || n % 60, 'provider-a', 'sub_' || n, 'team', 5 + n % 400, 'active', false, false,
       now() + n * interval '1 second'
     from generate_series(0, 899) n`,
  );
  const watched: Pick<Database, "run"> = {
    run: (statement, values) => {
      statements.push(statement.name);
      return test.database.run(statement, values);
    },
  };
  app = await graphqlApp(watched);
});
beforeEach(() => {
  statements = [];
});
afterAll(() => app.close());

const asAdmin = { headers: { "x-test-user": "user_0", "x-test-role": "admin" } };

it("loads a hundred users with their subscriptions in two queries and two charges", async () => {
  const { body, headers } = await queryGraphql(
    app.url,
    "{ users(limit: 100) { items { id subscriptions { id userId seats createdAt } } nextCursor } }",
    asAdmin,
  );
  expect(statements).toEqual(["list_users", "subscriptions_of_users"]);
  expect(headers.get("x-ratelimit-remaining")).toBe("28");
  const { items, nextCursor } = body.data.users;
  expect(items).toHaveLength(100);
  expect(nextCursor).not.toBeNull();

  for (const user of items) {
    const expected = await test.rows<{ id: string }>(
      "select id from subscription where user_id = $1 order by created_at desc limit 10",
      [user.id],
    );
    expect(user.subscriptions.map(({ id }: { id: string }) => id)).toEqual(expected.map(({ id }) => id));
    expect(user.subscriptions.every(({ userId }: { userId: string }) => userId === user.id)).toBe(true);
  }
  expect(items.some(({ subscriptions }: { subscriptions: unknown[] }) => subscriptions.length === 0)).toBe(
    true,
  );
  expect(items.some(({ subscriptions }: { subscriptions: unknown[] }) => subscriptions.length === 10)).toBe(
    true,
  );
});

it("loads a changed object again after a mutation", async () => {
  await test.rows(
    `insert into subscription (id, user_id, provider, plan_id, seats, status, cancel_at_period_end, out_of_order)
     values ($1, 'user_100', 'provider-a', 'team', 5, 'active', false, false)`,
    [randomUUID()],
  );
  const { body } = await queryGraphql(
    app.url,
    `mutation { setLocale(locale: DE) { subscriptions { id } } completeOnboarding { locale subscriptions { id } } }`,
    { headers: { "x-test-user": "user_100" } },
  );
  expect(body.data.completeOnboarding).toMatchObject({ locale: "DE", subscriptions: [{}] });
  expect(statements.filter((name) => name === "subscriptions_of_users")).toHaveLength(2);
});

it("shows other users' subscriptions to administrators only", async () => {
  const ownSubscriptions = await queryGraphql(
    app.url,
    "{ users { items { id subscriptions { userId } } } }",
    {
      headers: { "x-test-user": "user_7" },
    },
  );
  expect(ownSubscriptions.body.data.users.items).toEqual([
    { id: "user_7", subscriptions: Array.from({ length: 10 }, () => ({ userId: "user_7" })) },
  ]);
  const byKey = await queryGraphql(app.url, "{ users { items { id } } }", {
    headers: { "x-test-user": "user_7", "x-test-role": "admin", "x-test-key": "key" },
  });
  expect(byKey.body.data.users.items).toEqual([{ id: "user_7" }]);
});

it("hides other users' subscriptions from direct requests too", async () => {
  const person = { userId: "user_7", address: "127.0.0.1" };
  const lookUp = (caller: Caller, userIds: string[]) =>
    execute(
      listOfUsers,
      { database: test.database, limits: testLimits(), observe: null },
      { caller, charges: [] },
      () => ({ userIds }),
    );
  const user = { kind: "session", sessionId: "session", role: "user", ...person } as const;
  const adminsKey = { kind: "api-key", keyId: "key", role: "admin", ...person } as const;
  for (const caller of [user, adminsKey]) {
    expect((await lookUp(caller, ["user_7"]))[0]).toHaveLength(10);
    for (const ids of [["user_8"], ["user_7", "user_8"], ["user_that_never_was"]]) {
      await expect(lookUp(caller, ids)).rejects.toMatchObject({ code: "not_found" });
    }
  }
  const [own, others] = await lookUp({ ...user, role: "admin" }, ["user_7", "user_8"]);
  expect([own?.length, others?.length]).toEqual([10, 10]);
});

it("returns the users when loading their subscriptions is refused", async () => {
  const headers = { "x-test-user": "user_8" };
  for (let n = 0; n < 29; n += 1) await queryGraphql(app.url, "{ unreadCount }", { headers });
  const response = await queryGraphql(app.url, "{ me { id subscriptions { id } } }", { headers });
  expect(response.status).toBe(200);
  expect(response.body.data).toEqual({ me: { id: "user_8", subscriptions: null } });
  expect(refusals(response)).toEqual({ "me.subscriptions": "RATE_LIMITED" });
  expect(response.headers.get("retry-after")).toMatch(/^\d+$/);
});
