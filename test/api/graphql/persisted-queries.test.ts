import { afterAll, beforeAll, expect, it } from "vitest";
import { freshDatabase, type TestDatabase } from "../../support/database.ts";
import { sendRequest } from "../../support/http.ts";
import { graphqlApp } from "./graphql-app.ts";

let test: TestDatabase;
let app: Awaited<ReturnType<typeof graphqlApp>>;

beforeAll(async () => {
  test = await freshDatabase(0);
  app = await graphqlApp(test.database, { introspection: false });
});
afterAll(async () => {
  await app.close();
  await test.drop();
});

const extensions = { persistedQuery: { version: 1, sha256Hash: "a".repeat(64) } };

it("answers a query's hash alone with PersistedQueryNotSupported", async () => {
  for (const answer of [
    await sendRequest(app.url, "POST", "/api/graphql", { body: { operationName: "Plans", extensions } }),
    await sendRequest(
      app.url,
      "GET",
      `/api/graphql?extensions=${encodeURIComponent(JSON.stringify(extensions))}`,
    ),
  ]) {
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
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
