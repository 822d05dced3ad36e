import { serverAudits } from "graphql-http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningServer } from "../../../src/server.ts";
import { freshDatabase, type TestDatabase } from "../../support/database.ts";
import { startTestServer } from "../../support/server.ts";
import { GENEROUS_LIMITS } from "../../support/variables.ts";

let test: TestDatabase;
let server: RunningServer;

beforeAll(async () => {
  test = await freshDatabase(0);
  server = await startTestServer(test.url, GENEROUS_LIMITS);
});
afterAll(async () => {
  await server.close();
  await test.drop();
});

describe.each(["/api/graphql", "/api/v1/graphql"])("%s passes the audit of GraphQL over HTTP", (path) => {
  const audits = serverAudits({ url: () => `${server.url}${path}`, fetchFn: fetch });

  it.each(audits.map((audit) => [audit.id, audit.name, audit] as const))(
    "%s %s",
    async (_id, _name, audit) => {
      const result = await audit.fn();
      expect(result).toMatchObject({ status: "ok" });
    },
  );
});

it("runs every audit of the package", () => {
  expect(serverAudits({ url: "" }).length).toBeGreaterThanOrEqual(60);
});
