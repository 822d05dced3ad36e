import { getIntrospectionQuery } from "graphql";
import { beforeAll, describe, expect, it } from "vitest";
import { freshServer } from "../../support/fresh-server.ts";
import { createAdmin } from "../../support/people.ts";
import { queryGraphql } from "./query-graphql.ts";

const { test, server } = freshServer({ users: 3 });
let cookie: string;

beforeAll(async () => {
  cookie = (await createAdmin(test)).cookie;
});

const USER = `id name email emailVerified role locale onboarded createdAt updatedAt
  preferences { theme emailNotifications }
  subscriptions { id userId provider providerSubscriptionId planId seats status currentPeriodEnd cancelAtPeriodEnd
    outOfOrder createdAt updatedAt }`;

/** Below `__type`, where `ofType` may be nested without end. */
const typeOf = (selection: string, fragments = "") =>
  `{ __type(name: "User") { ${selection} } } ${fragments}`;
const nested = (depth: number): string => (depth === 0 ? "name" : `ofType { ${nested(depth - 1)} }`);

describe("a query within the limits is accepted", () => {
  it.each([
    [
      "a full page of users with all that is theirs",
      `{ users(limit: 100) { items { ${USER} } nextCursor } }`,
    ],
    [
      "two pages of fifty users each",
      `{ users(limit: 50) { items { ${USER} } } more: users(limit: 50) { items { ${USER} } } }`,
    ],
    ["introspection, as GraphiQL asks for it", getIntrospectionQuery({ inputValueDeprecation: true })],
    ["fifteen aliases", `{ ${Array.from({ length: 15 }, (_, n) => `a${n}: unreadCount`).join(" ")} }`],
    [
      "every list at once",
      `{ plans { items { id name features } } features { name } me { ${USER} }
      subscriptions { items { id } } notifications { items { id details } } apiKeys { items { id } }
      deliveries { items { id } } }`,
    ],
  ])("%s", async (_name, query) => {
    const response = await queryGraphql(server.url, query, { cookie });
    expect(response.body.errors).toBeUndefined();
  });
});

describe("a query beyond the limits is refused before it runs", () => {
  const doubling = (depth: number, alias: (n: number) => string) =>
    Array.from({ length: depth }, (_, n) => `fragment F${n} on __Type { ${alias(n)} }`).join(" ");

  it.each([
    ["depth", typeOf(nested(25)), "deeper than 8"],
    [
      "depth, through fragments",
      typeOf("...F0", `${doubling(24, (n) => `ofType { ...F${n + 1} }`)} fragment F24 on __Type { name }`),
      "deeper than 8",
    ],
    [
      "depth, through inline fragments",
      typeOf(
        Array.from({ length: 25 }).reduce<string>((inner) => `... on __Type { ofType { ${inner} } }`, "name"),
      ),
      "deeper than 8",
    ],
    ["aliases", `{ ${Array.from({ length: 16 }, (_, n) => `a${n}: unreadCount`).join(" ")} }`, "15 aliases"],
    [
      "aliases, through a fragment that is spread again and again",
      typeOf(
        "...A ofType { ...A ofType { ...A ofType { ...A } } }",
        "fragment A on __Type { a: name b: name c: name d: name }",
      ),
      "15 aliases",
    ],
    [
      "aliases that double with each fragment",
      typeOf(
        "...F0",
        `${doubling(15, (n) => `a: ofType { ...F${n + 1} } b: ofType { ...F${n + 1} }`)} fragment F15 on __Type { name }`,
      ),
      "15 aliases",
    ],
    [
      "directives",
      `{ ${Array.from({ length: 21 }, () => "unreadCount @include(if: true)").join(" ")} }`,
      "20 directives",
    ],
    [
      "directives, through fragments",
      `{ ...D ...D ... { ...D } } fragment D on Query { ${"unreadCount @skip(if: false) ".repeat(7)} }`,
      "20 directives",
    ],
    [
      "cost",
      `{ users(limit: 100) { items { ${USER} } } more: users(limit: 100) { items { ${USER} } } }`,
      "more than 15000 fields",
    ],
    [
      "cost, through fragments",
      `{ ...A ...B } fragment A on Query { users(limit: 100) { items { ...U } } }
       fragment B on Query { more: users(limit: 100) { items { ...U } } } fragment U on User { ${USER} }`,
      "more than 15000 fields",
    ],
    [
      "cost that doubles with each fragment",
      typeOf(
        "...F0",
        `${doubling(20, (n) => `...F${n + 1} ... { ...F${n + 1} }`)} fragment F20 on __Type { name }`,
      ),
      "more than 15000 fields",
    ],
  ])("%s", async (_name, query, reason) => {
    const { status, body } = await queryGraphql(server.url, query, { cookie });
    expect(body).toEqual({
      errors: [
        {
          message: expect.stringContaining(reason),
          extensions: expect.objectContaining({ code: "OPERATION_TOO_LARGE" }),
        },
      ],
    });
    expect(status).toBe(200);
  });

  it("counts the value of a page-size variable, not its default", async () => {
    const query = `query ($n: Int! = 1) { users(limit: $n) { items { ${USER} } } b: users(limit: $n) { items { ${USER} } } }`;
    const few = await queryGraphql(server.url, query, { cookie, variables: { n: 5 } });
    expect(few.body.errors).toBeUndefined();
    for (const n of [100, 1_000, -1, 2_147_483_647]) {
      const response = await queryGraphql(server.url, query, { cookie, variables: { n } });
      expect(response.body.errors[0].extensions.code).toBe("OPERATION_TOO_LARGE");
    }
    const withoutValue = await queryGraphql(server.url, query, { cookie });
    expect(withoutValue.body.errors[0].extensions.code).toBe("OPERATION_TOO_LARGE");
  });

  it.each([
    ["too many tokens", `{ ${"me { id } ".repeat(300)} }`, "more than 1000 tokens"],
    [
      "too many tokens of fragments that nobody uses",
      `{ unreadCount } ${"fragment F on User { id } ".repeat(200)}`,
      "1000 tokens",
    ],
    ["a fragment that nobody uses", "{ unreadCount } fragment F on User { id }", "never used"],
    [
      "a fragment within itself",
      "{ me { ...A } } fragment A on User { ...B } fragment B on User { ...A }",
      "within itself",
    ],
    [
      "many fragments in two circles",
      `{ me { ...F0 } } ${Array.from({ length: 90 }, (_, n) => `fragment F${n} on User { ...F${(n + 1) % 90} ...F${(n + 2) % 90} }`).join(" ")}`,
      "within itself",
    ],
    [
      "fragments in two circles, of which two have namesakes",
      `{ me { ...F0 } } fragment F0 on User { id } fragment F1 on User { id } ${Array.from({ length: 86 }, (_, n) => `fragment F${n} on User { ...F${(n + 1) % 86} ...F${(n + 2) % 86} }`).join(" ")}`,
      "only one fragment named",
    ],
    [
      "introspection that goes in circles",
      "{ __schema { types { fields { type { fields { type { fields { name } } } } } } } }",
      "introspection depth",
    ],
    ["nesting without end", `{ me ${"{ id ".repeat(400)}`, "Syntax Error"],
  ])("%s", async (_name, query, reason) => {
    const { body } = await queryGraphql(server.url, query, { cookie });
    expect(body.data).toBeUndefined();
    expect(body.errors[0].message).toContain(reason);
  });

  it("limits the size of the selected operation only", async () => {
    const query = `query small { unreadCount } query large { ${Array.from({ length: 16 }, (_, n) => `a${n}: unreadCount`).join(" ")} }`;
    const small = await queryGraphql(server.url, query, { cookie, operationName: "small" });
    expect(small.body).toEqual({ data: { unreadCount: 0 } });
    const large = await queryGraphql(server.url, query, { cookie, operationName: "large" });
    expect(large.body.errors[0].extensions.code).toBe("OPERATION_TOO_LARGE");
    const unnamed = await queryGraphql(server.url, query, { cookie });
    expect(unnamed.body.data).toBeUndefined();
  });

  it("counts a repeated query again", async () => {
    const query = `{ ${Array.from({ length: 16 }, (_, n) => `b${n}: unreadCount`).join(" ")} }`;
    for (let n = 0; n < 3; n += 1) {
      const { body } = await queryGraphql(server.url, query, { cookie });
      expect(body.errors[0].extensions.code).toBe("OPERATION_TOO_LARGE");
    }
  });
});
