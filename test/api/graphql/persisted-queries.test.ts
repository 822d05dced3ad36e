import { createHash } from "node:crypto";
import { ApolloClient, ApolloLink, gql, HttpLink, InMemoryCache } from "@apollo/client";
import { PersistedQueryLink } from "@apollo/client/link/persisted-queries";
import { Client, fetchExchange } from "@urql/core";
import { persistedExchange } from "@urql/exchange-persisted";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sendRequest } from "../../support/http.ts";
import { testDatabase } from "../../support/test-database.ts";
import { graphqlApp } from "./graphql-app.ts";

const test = testDatabase(0);
let app: Awaited<ReturnType<typeof graphqlApp>>;

beforeAll(async () => {
  app = await graphqlApp(test.database, { introspection: false });
});
afterAll(() => app.close());

const extensions = { persistedQuery: { version: 1, sha256Hash: "a".repeat(64) } };

it("answers a query's hash alone with PersistedQueryNotSupported", async () => {
  for (const response of [
    await sendRequest(app.url, "POST", "/api/graphql", { body: { operationName: "Plans", extensions } }),
    await sendRequest(
      app.url,
      "GET",
      `/api/graphql?extensions=${encodeURIComponent(JSON.stringify(extensions))}`,
    ),
  ]) {
    expect(response.status).toBe(200);
    expect(response.body).toMatchObject({
      errors: [
        { message: "PersistedQueryNotSupported", extensions: { code: "PERSISTED_QUERY_NOT_SUPPORTED" } },
      ],
    });
  }
});

it("runs a query that comes with its hash", async () => {
  const body = { query: "{ plans { items { id } } }", extensions };
  const response = await sendRequest(app.url, "POST", "/api/graphql", { body });
  expect(response.body.data.plans.items.length).toBeGreaterThan(0);
});

const PLANS = gql`
  query Plans($limit: Int!) {
    plans(limit: $limit) {
      items {
        id
      }
    }
  }
`;

/** Sends like a browser, and keeps whether each request had a query or its hash alone. */
function recordingFetch() {
  const sent: string[] = [];
  const send = (input: string | URL | Request, init?: RequestInit) => {
    const { searchParams } = new URL(String(input));
    const query = init?.method === "GET" ? searchParams.get("query") : JSON.parse(String(init?.body)).query;
    sent.push(query ? "query" : `${init?.method} hash`);
    return fetch(input, init);
  };
  return { sent, send };
}

const idsOf = (data: unknown) =>
  (data as { plans: { items: { id: string }[] } }).plans.items.map(({ id }) => id);

describe.each([
  ["GET", true],
  ["POST", false],
])("automatic persisted queries by %s", (method, useGETForHashedQueries) => {
  /** Its hash once, then this query and the next in full. */
  const expected = [`${method} hash`, "query", "query"];
  it("are sent in full by Apollo Client after the first answer", async () => {
    const { sent, send } = recordingFetch();
    const client = new ApolloClient({
      cache: new InMemoryCache(),
      link: ApolloLink.from([
        new PersistedQueryLink({
          useGETForHashedQueries,
          sha256: (text) => createHash("sha256").update(text).digest("hex"),
        }),
        new HttpLink({ uri: `${app.url}/api/graphql`, fetch: send as typeof fetch }),
      ]),
    });
    for (const limit of [1, 2]) {
      const { data } = await client.query({ query: PLANS, variables: { limit } });
      expect(idsOf(data)).toEqual(["free", "pro"].slice(0, limit));
    }
    expect(sent).toEqual(expected);
  });

  it("are sent in full by urql after the first answer", async () => {
    const { sent, send } = recordingFetch();
    const client = new Client({
      url: `${app.url}/api/graphql`,
      fetch: send as typeof fetch,
      preferGetMethod: false,
      exchanges: [persistedExchange({ preferGetForPersistedQueries: useGETForHashedQueries }), fetchExchange],
    });
    for (const limit of [1, 2]) {
      const { data, error } = await client.query(PLANS, { limit }).toPromise();
      expect(error).toBeUndefined();
      expect(idsOf(data)).toEqual(["free", "pro"].slice(0, limit));
    }
    expect(sent).toEqual(expected);
  });
});
