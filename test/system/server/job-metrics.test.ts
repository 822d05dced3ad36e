import { expect, it, vi } from "vitest";
import { freshDatabase } from "../../support/database.ts";
import { sendRequest } from "../../support/http.ts";
import { spawnServer } from "../../support/server-process.ts";

it("counts the runs of each job by name, webhook-retry included", async () => {
  const test = await freshDatabase();
  const token = "a-token-of-sixteen-or-more";
  const server = await spawnServer(test.url, { METRICS_TOKEN: token, WEBHOOK_LEASE_SECONDS: "1" });
  await vi.waitFor(
    async () => {
      const { text } = await sendRequest(server.url, "GET", "/api/metrics", { key: token });
      expect(text).toMatch(/^tollgate_job_runs_total\{job="webhook-retry",outcome="ok"\} [1-9]\d*$/m);
    },
    { timeout: 60_000, interval: 200 },
  );
  await server.end("SIGTERM");
  await test.drop();
});
