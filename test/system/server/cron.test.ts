import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { numberedEvent } from "../../fixtures/numbered-event.ts";
import { freshDatabase, type TestDatabase } from "../../support/database.ts";
import { deliverWebhook } from "../../support/http.ts";
import { type ServerProcess, spawnServer } from "../../support/server-process.ts";

const SECRET = "a-secret-of-sixteen-or-more";

let test: TestDatabase;
let server: ServerProcess;
let folder: string;
beforeAll(async () => {
  test = await freshDatabase();
  folder = await mkdtemp(join(tmpdir(), "tollgate-cron-"));
  server = await spawnServer(test.url, {
    CRON_SECRET: SECRET,
    ...{ SIMULATOR: "on", SIMULATOR_PORT: "0", DATA_DIR: folder },
    ...{ RECONCILE: "on", SELF_HEAL: "on" },
  });
});
afterAll(async () => {
  await server.end("SIGTERM");
  await test.drop();
  await rm(folder, { recursive: true, force: true });
});

async function get(job: string, secret = SECRET) {
  const response = await fetch(`${server.url}/api/cron/${job}`, {
    headers: { authorization: `Bearer ${secret}` },
  });
  return { status: response.status, body: await response.json() };
}

describe("GET /api/cron/:job", () => {
  it.each([
    "webhook-retry",
    "nightly-comparison",
    "missed-events-sweep",
    "self-heal",
    "session-clean-up",
    "unwanted-subscriptions",
    "grace-reminders",
    "redaction",
    "retention",
    "outbound-events",
  ])("runs %s once", async (job) => {
    expect(await get(job)).toEqual({ status: 200, body: { job, outcome: "ok" } });
  });

  it("retries the deliveries that are due", async () => {
    const event = numberedEvent("cron", 0);
    await test.rows(`delete from "user"`);
    expect((await deliverWebhook(server.url, "provider-a", event)).status).toBe(500);
    await test.rows(`insert into "user" (id, name, email) values ('user_0', 'A', 'a@example.com')`);
    await test.rows("update webhook_delivery set next_attempt_at = clock_timestamp()");
    await get("webhook-retry");
    expect(await test.rows("select status from webhook_delivery")).toEqual([{ status: "successful" }]);
  });

  it("returns 401 for a wrong or missing secret", async () => {
    expect(await get("retention", "another-secret-of-sixteen")).toEqual({
      status: 401,
      body: { error: "Unauthorized" },
    });
    expect((await fetch(`${server.url}/api/cron/retention`)).status).toBe(401);
  });

  it("returns 404 for an unknown job", async () => {
    expect((await get("backup")).status).toBe(404);
  });

  it("returns 405 for other methods", async () => {
    expect((await fetch(`${server.url}/api/cron/retention`, { method: "POST" })).status).toBe(405);
  });
});
