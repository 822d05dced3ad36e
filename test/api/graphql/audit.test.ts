import { serverAudits } from "graphql-http";
import { describe, expect, it } from "vitest";
import { freshServer } from "../../support/fresh-server.ts";

const { server } = freshServer();

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
