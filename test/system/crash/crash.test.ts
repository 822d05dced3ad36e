import { execFileSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Milestone } from "../../../src/intake/intake.ts";
import type { WireFormat } from "../../../src/providers/adapter.ts";
import { numberedEvent } from "../../fixtures/numbered-event.ts";
import { freshDatabase, type TestDatabase } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { deliverWebhook } from "../../support/http.ts";
import { expectEachAppliedOnce } from "../../support/ledger.ts";
import { runUntilCrash, type ServerProcess, spawnServer } from "../../support/server-process.ts";

// script/fuzz kills more often.
const CRASHES = Number(process.env.CRASHES ?? 8);
const EVENTS_AT_ONCE = 8;
const LEASE = { WEBHOOK_LEASE_SECONDS: "1" };
// Its provider sends an event four times at most: such events are claimed before they are applied.
const CLAIMED_FIRST = { ...LEASE, PROVIDER_A_ADAPTER: "lemon-squeezy" };

describe.concurrent(`a server killed ${CRASHES} times`, () => {
  it.each<[WireFormat, Milestone[]]>([
    ["stripe", ["effects written", "committed"]],
    ["lemon-squeezy", ["claimed", "effects written", "committed"]],
  ])(
    "while it ingests %s events (after '%s') loses no event and applies none twice",
    { timeout: 600_000 },
    async (format, milestones) => {
      const variables = { ...LEASE, PROVIDER_A_ADAPTER: format };
      const test = await freshDatabase();
      let next = 0;
      let unanswered: number[] = [];
      for (let crash = 0; crash < CRASHES; crash += 1) {
        const crashAt = `${milestones[crash % milestones.length]}:${1 + (crash % 4)}`;
        // Until it crashes, the provider sends new events and resends unacknowledged ones.
        await runUntilCrash(test.url, { ...variables, CRASH_AT: crashAt }, async (server) => {
          const fresh = Array.from({ length: EVENTS_AT_ONCE }, () => next++);
          unanswered = await sendAll(server, [...unanswered, ...fresh], format);
        });
      }
      const server = await spawnServer(test.url, variables);
      for (let tries = 0; unanswered.length > 0 && tries < 100; tries += 1) {
        unanswered = await sendAll(server, unanswered, format);
      }
      expect(unanswered).toEqual([]);
      await expectEachAppliedOnce(test, "crash", next);
      expect((await server.end("SIGTERM")).code).toBe(0);
      await test.drop();
    },
  );

  it("inside webhook-retry loses no event and applies none twice", { timeout: 600_000 }, async () => {
    const test = await freshDatabase(0);
    const first = await spawnServer(test.url, LEASE);
    const events = CRASHES * 4;
    for (let n = 0; n < events; n += 1) {
      // A lease of a second makes for short timeouts, and for a 503 now and then.
      await eventually(
        async () => (await deliverWebhook(first.url, "provider-a", numberedEvent("retry", n))).status,
        500,
      );
    }
    await first.end("SIGTERM");
    await test.rows(
      `insert into "user" (id, name, email) select 'user_' || n, 'U', n || '@example.com' from generate_series(0, 19) n`,
    );
    for (let crash = 0; crash < CRASHES; crash += 1) {
      // A few come due each time; those left pending by the last crash are taken over as well.
      await test.rows(
        `update webhook_delivery set next_attempt_at = clock_timestamp() where id in
           (select id from webhook_delivery where status = 'failed' order by id limit 4)`,
      );
      await runUntilCrash(test.url, { ...LEASE, CRASH_AT: "retry claimed:1" }, ({ ended }) => ended);
    }
    await test.rows(
      "update webhook_delivery set next_attempt_at = clock_timestamp() where status = 'failed'",
    );
    const server = await spawnServer(test.url, LEASE);
    // Deliveries that used up all attempts wait for the operator; a redelivery reclaims them.
    await eventually(() => test.rows("select id from webhook_delivery where status = 'pending'"), []);
    for (let n = 0; n < events; n += 1) {
      expect((await deliverWebhook(server.url, "provider-a", numberedEvent("retry", n))).status).toBe(200);
    }
    await expectEachAppliedOnce(test, "retry", events);
    const expired = await test.rows(
      "select from webhook_attempts where outcome = 'failed' and reason = 'lease expired'",
    );
    expect(expired.length).toBeGreaterThanOrEqual(CRASHES);
    await server.end("SIGTERM");
    await test.drop();
  });
});

it("applies a claimed event after a crash although its provider never sends it again", async () => {
  const test = await freshDatabase();
  const first = await spawnServer(test.url, { ...CLAIMED_FIRST, CRASH_AT: "claimed:1" });
  await deliverWebhook(first.url, "provider-a", numberedEvent("once", 0, 20, "lemon-squeezy")).catch(
    () => null,
  );
  expect((await first.ended).signal).toBe("SIGKILL");
  const second = await spawnServer(test.url, CLAIMED_FIRST);
  await expectEachAppliedOnce(test, "once", 1);
  await second.end("SIGTERM");
  await test.drop();
});

describe("a server stopped past its lease and continued", () => {
  let test: TestDatabase;
  let otherServer: ServerProcess;
  beforeAll(async () => {
    test = await freshDatabase();
    otherServer = await spawnServer(test.url, CLAIMED_FIRST);
  });
  afterAll(async () => {
    await otherServer.end("SIGTERM");
    await test.drop();
  });

  it.each<[Milestone, string]>([
    ["claimed", "stop1"],
    ["effects written", "stop2"],
  ])("after the step '%s' of a claimed event can no longer write and returns 503", async (milestone, run) => {
    const event = () => numberedEvent(run, 0, 20, "lemon-squeezy");
    const stopped = await spawnServer(test.url, { ...CLAIMED_FIRST, CRASH_AT: `${milestone}:1:SIGSTOP` });
    const answer = deliverWebhook(stopped.url, "provider-a", event());
    await expectEachAppliedOnce(test, run, 1);
    stopped.child.kill("SIGCONT");
    expect((await answer).status).toBe(503);
    expect((await deliverWebhook(stopped.url, "provider-a", event())).body).toEqual({
      received: true,
      duplicate: true,
    });
    await expectEachAppliedOnce(test, run, 1);
    const attempts = await test.rows(
      `select a.outcome, a.reason, a.source from webhook_attempts a join webhook_delivery d on d.id = a.delivery_id
       where d.event_id like $1 order by a.claim_no`,
      [`${run}-0%`],
    );
    expect(attempts).toEqual([
      { outcome: "failed", reason: "lease expired", source: "delivery" },
      { outcome: "successful", reason: null, source: "retry" },
    ]);
    await stopped.end("SIGTERM");
  });

  it("releases the locks of a first delivery when it crashes before the commit, and acknowledges nothing that is not applied", async () => {
    const elsewhere = await spawnServer(test.url, LEASE);
    const stopped = await spawnServer(test.url, { ...LEASE, CRASH_AT: "effects written:1:SIGSTOP" });
    const answer = deliverWebhook(stopped.url, "provider-a", numberedEvent("stop3", 0));
    await eventually(async () => isStopped(stopped), true);
    // The same event at another server waits for the row until PostgreSQL ends the stopped transaction.
    const statusOfRepeat = async () =>
      (await deliverWebhook(elsewhere.url, "provider-a", numberedEvent("stop3", 0))).status;
    await eventually(statusOfRepeat, 200);
    stopped.child.kill("SIGCONT");
    // 200 when it runs again in time and finds the event applied by the other server.
    expect([200, 503]).toContain((await answer).status);
    expect((await deliverWebhook(stopped.url, "provider-a", numberedEvent("stop3", 0))).body).toEqual({
      received: true,
      duplicate: true,
    });
    await expectEachAppliedOnce(test, "stop3", 1);
    await stopped.end("SIGTERM");
    await elsewhere.end("SIGTERM");
  });
});

function isStopped({ child }: ServerProcess): boolean {
  return execFileSync("ps", ["-o", "stat=", "-p", String(child.pid)], { encoding: "utf8" }).startsWith("T");
}

/** Sends them all at once; returns those that were not acknowledged. */
async function sendAll(
  server: ServerProcess,
  numbers: readonly number[],
  format: WireFormat,
): Promise<number[]> {
  const answered = await Promise.all(
    numbers.map((n) =>
      deliverWebhook(server.url, "provider-a", numberedEvent("crash", n, 20, format)).then(
        (answer) => answer.status === 200,
        () => false,
      ),
    ),
  );
  return numbers.filter((_, index) => !answered[index]);
}
