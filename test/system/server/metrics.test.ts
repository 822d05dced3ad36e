import { afterAll, beforeAll, expect, it } from "vitest";
import { freshDatabase, type TestDatabase } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { sendRequest } from "../../support/http.ts";
import { type ServerProcess, spawnServer } from "../../support/server-process.ts";

const TOKEN = "a-token-of-sixteen-or-more";

let test: TestDatabase;
let server: ServerProcess;

beforeAll(async () => {
  test = await freshDatabase();
  server = await spawnServer(test.url, { METRICS_TOKEN: TOKEN, WEBHOOK_LEASE_SECONDS: "1" });
});

afterAll(async () => {
  await server?.end("SIGTERM");
  await test?.drop();
});

async function metrics(pattern: RegExp): Promise<string[] | null> {
  const { text } = await sendRequest(server.url, "GET", "/api/metrics", { key: TOKEN });
  return text.match(pattern);
}

it("counts the runs of each job by name, webhook-retry included", async () => {
  await eventually(
    async () => metrics(/^tollgate_job_runs_total\{job="webhook-retry",outcome="ok"\} (?=[1-9])/gm),
    ['tollgate_job_runs_total{job="webhook-retry",outcome="ok"} '],
  );
});

it("counts requests to REST routes by version and by what chose it, refused ones included", async () => {
  const header = { headers: { "x-api-version": "v2" } };
  await sendRequest(server.url, "GET", "/api/plans");
  await sendRequest(server.url, "GET", "/api/plans", header);
  await sendRequest(server.url, "GET", "/api/v1/users/me");
  await sendRequest(server.url, "GET", "/api/v1/plans", header);
  await sendRequest(server.url, "GET", "/api/v3/plans");
  await sendRequest(server.url, "GET", "/api/health");
  expect((await metrics(/^tollgate_rest_requests_total.*$/gm))?.toSorted()).toEqual([
    'tollgate_rest_requests_total{version="v1",chosen_by="default"} 1',
    'tollgate_rest_requests_total{version="v1",chosen_by="path"} 2',
    'tollgate_rest_requests_total{version="v2",chosen_by="header"} 1',
  ]);
});

it("counts whatever names a version, and event streams and the assistant without one", async () => {
  const count = async (version: string, chosenBy: string) => {
    const line = `^tollgate_rest_requests_total\\{version="${version}",chosen_by="${chosenBy}"\\} (\\d+)$`;
    const [found = "0"] = (await metrics(new RegExp(line, "m")))?.slice(1) ?? [];
    return Number(found);
  };
  const byDefault = await count("v1", "default");
  await sendRequest(server.url, "GET", "/api/events/stream");
  await sendRequest(server.url, "POST", "/api/chat", { body: {} });
  await sendRequest(server.url, "GET", "/api/chat/a-chat/stream");
  await sendRequest(server.url, "GET", "/api/trpc/billing.plans");
  await sendRequest(server.url, "GET", "/api/no-route");
  expect(await count("v1", "default")).toBe(byDefault + 3);

  const byPath = await count("v2", "path");
  await sendRequest(server.url, "GET", "/api/v2/events/stream");
  await sendRequest(server.url, "GET", "/api/v2/trpc/billing.plans");
  await sendRequest(server.url, "POST", "/api/v2/graphql", { body: { query: "{ plans { id } }" } });
  await sendRequest(server.url, "POST", "/api/v2/webhooks/provider-a", { body: {} });
  await sendRequest(server.url, "GET", "/api/v2/health");
  await sendRequest(server.url, "GET", "/api/v2/no-route");
  expect(await count("v2", "path")).toBe(byPath + 5);

  const byHeader = await count("v2", "header");
  const header = { headers: { "x-api-version": "v2" } };
  await sendRequest(server.url, "POST", "/api/webhooks/provider-a", { ...header, body: {} });
  expect(await count("v2", "header")).toBe(byHeader + 1);
});
