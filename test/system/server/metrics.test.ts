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
