import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { JOB_NAMES } from "../../../src/domain/job.ts";
import { numberedEvent } from "../../fixtures/numbered-event.ts";
import { eventually } from "../../support/eventually.ts";
import { deliverWebhook, sendRequest } from "../../support/http.ts";
import { startTestServer } from "../../support/server.ts";
import { type ServerProcess, spawnServer } from "../../support/server-process.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { testDatabase } from "../../support/test-database.ts";

const SECRET = "a-secret-of-sixteen-or-more";

const test = testDatabase();
let server: ServerProcess;
let folder: string;
beforeAll(async () => {
  folder = await temporaryFolder();
  server = await spawnServer(test.url, {
    CRON_SECRET: SECRET,
    AUDIT_RETENTION_DAYS: "40",
    SIMULATOR: "on",
    SIMULATOR_PORT: "0",
    DATA_DIR: folder,
    RECONCILE: "on",
    SELF_HEAL: "on",
  });
});
afterAll(() => server.end("SIGTERM"));

async function get(job: string, secret = SECRET) {
  const { status, body } = await sendRequest(server.url, "GET", `/api/cron/${job}`, { key: secret });
  return { status, body };
}

describe("GET /api/cron/:job", () => {
  // Several run on a timer here too, in this process or in a run that holds the lease.
  it.each(JOB_NAMES)("runs %s once", async (job) => {
    const outcome = job === "notification-mail" ? "disabled" : "ok";
    await eventually(() => get(job), { status: 200, body: { job, outcome } });
  });

  // Without a flagged subscription there is nothing that self-heal needs a lease for.
  it.each(JOB_NAMES.filter((job) => !["notification-mail", "self-heal"].includes(job)))(
    "does not run %s while another process does",
    async (job) => {
      // The timer may hold the lease at this moment; afterwards it belongs to the other process for a minute.
      await test.rows(
        `insert into lease (name, token, held_until) values ($1, gen_random_uuid(), now() + interval '1 minute')
         on conflict (name) do update set token = excluded.token, held_until = excluded.held_until`,
        [`job:${job}`],
      );
      await eventually(() => get(job), { status: 200, body: { job, outcome: "already_running" } });
      await test.rows("delete from lease where name = $1", [`job:${job}`]);
    },
  );

  it("retries the deliveries that are due", async () => {
    const event = numberedEvent("cron", 0);
    await test.rows(`delete from "user"`);
    expect((await deliverWebhook(server.url, "provider-a", event)).status).toBe(500);
    await test.rows(`insert into "user" (id, name, email) values ('user_0', 'A', 'a@example.com')`);
    await test.rows("update webhook_delivery set next_attempt_at = clock_timestamp()");
    await get("webhook-retry");
    expect(await test.rows("select status from webhook_delivery")).toEqual([{ status: "successful" }]);
  });

  it("drops entries of the audit log after AUDIT_RETENTION_DAYS", async () => {
    await test.rows(
      `insert into audit_entry (at, actor_kind, action, target_type, target_id)
       select now() - days * interval '1 day', 'operator', 'test.aged', 'user', days from unnest(array[39, 41]) days`,
    );
    await eventually(async () => {
      await get("session-clean-up");
      return test.rows("select target_id from audit_entry where action = 'test.aged'");
    }, [{ target_id: "39" }]);
  });

  it("drops what is kept no longer, and leaves what is", async () => {
    await test.rows(`insert into "user" (id, name, email) values ('user_aged', 'A', 'aged@example.com')`);
    await test.rows(
      `insert into notification (user_id, kind, created_at)
       select 'user_aged', 'role_changed', now() - days * interval '1 day' from unnest(array[364, 366]) days`,
    );
    await eventually(async () => {
      await get("retention");
      return test.rows(
        `select extract(day from now() - created_at)::int as days from notification where user_id = 'user_aged'`,
      );
    }, [{ days: 364 }]);
  });

  it("notifies whoever has a key that expires within two weeks", async () => {
    await test.rows(`insert into "user" (id, name, email) values ('user_key', 'A', 'key@example.com')`);
    await test.rows(
      `insert into api_key (id, user_id, name, prefix, hash, created_at, expires_at)
       values (gen_random_uuid(), 'user_key', 'build', 'tg_', sha256('x'), now() - interval '60 days', now() + interval '3 days')`,
    );
    await eventually(async () => {
      await get("session-clean-up");
      return test.rows("select kind from notification where user_id = 'user_key'");
    }, [{ kind: "api_key_expiring" }]);
  });

  it("returns 401 for a wrong or missing secret", async () => {
    expect(await get("retention", "another-secret-of-sixteen")).toEqual({
      status: 401,
      body: { error: "Unauthorized" },
    });
    expect((await sendRequest(server.url, "GET", "/api/cron/retention")).status).toBe(401);
  });

  it("returns 404 for every job when CRON_SECRET is not set", async () => {
    const without = await startTestServer(test.url);
    try {
      for (const authorization of [undefined, "Bearer ", `Bearer ${SECRET}`]) {
        const headers = authorization === undefined ? {} : { authorization };
        const response = await sendRequest(without.url, "GET", "/api/cron/retention", { headers });
        expect([response.status, response.body]).toEqual([404, { error: "Not found" }]);
      }
    } finally {
      await without.close();
    }
  });

  it("returns 404 for an unknown job", async () => {
    expect((await get("backup")).status).toBe(404);
  });

  it("returns 405 for other methods", async () => {
    expect((await sendRequest(server.url, "POST", "/api/cron/retention")).status).toBe(405);
  });
});
