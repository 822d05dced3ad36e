import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fixtureDelivery } from "../../fixtures/fixture.ts";
import { deliverWebhook } from "../../support/http.ts";
import { type ServerProcess, spawnServer } from "../../support/server-process.ts";
import { testDatabase } from "../../support/test-database.ts";
import { SECRETS, serverVariables } from "../../support/variables.ts";
import { ENTRY, type Tollgate, tollgateIn, tollgateProcessIn } from "../tollgate.ts";

const ID = /^[1-9]\d*$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const test = testDatabase(3);
let server: ServerProcess;
let tollgate: Tollgate;
beforeAll(async () => {
  server = await spawnServer(test.url);
  tollgate = tollgateIn(serverVariables(test.url));
});
afterAll(() => server.end("SIGTERM"));

/** Sends an event and returns the id of its delivery, which the server's own retry job leaves alone. */
async function delivered(eventId: string, userId: string, slot: "provider-a" | "provider-b" = "provider-a") {
  const event = fixtureDelivery(
    slot === "provider-a" ? "stripe" : "paddle",
    "customer.subscription.created",
    {
      secret: SECRETS[slot],
      nowSeconds: Math.floor(Date.now() / 1000),
      eventId,
      userId,
      subscriptionId: `sub_${eventId}`,
      customerId: `cus_${eventId}`,
      planId: "pro",
    },
  );
  await deliverWebhook(server.url, slot, event);
  await test.rows(
    "update webhook_delivery set next_attempt_at = now() + interval '1 day' where event_id = $1 and status = 'failed'",
    [eventId],
  );
  const [row] = await test.rows<{ id: string }>("select id from webhook_delivery where event_id = $1", [
    eventId,
  ]);
  return { id: row?.id as string, body: event.body };
}

function delivery(expected: object): object {
  return {
    id: expect.stringMatching(ID),
    provider: "provider-a",
    eventId: expect.any(String),
    eventType: "customer.subscription.created",
    status: "successful",
    attempts: 1,
    lastError: null,
    lastReason: null,
    receivedAt: expect.stringMatching(TIME),
    completedAt: expect.stringMatching(TIME),
    nextAttemptAt: null,
    ...expected,
  };
}

describe("webhooks list", () => {
  it("prints deliveries as an array, newest first, filtered by status, slot and limit", async () => {
    expect(await tollgate.json("webhooks", "list", "--slot", "provider-b")).toEqual([]);
    await delivered("list-1", "user_1");
    await delivered("list-2", "nobody");
    await delivered("list-3", "user_2", "provider-b");
    const failed = delivery({
      eventId: "list-2",
      status: "failed",
      lastError: 'user: there is no user "nobody"',
      lastReason: "user_not_found",
      nextAttemptAt: expect.stringMatching(TIME),
    });
    const third = delivery({
      eventId: "list-3",
      provider: "provider-b",
      eventType: "subscription.created",
    });
    expect(await tollgate.json("webhooks", "list", "--limit", "3")).toEqual([
      third,
      failed,
      delivery({ eventId: "list-1" }),
    ]);
    expect(await tollgate.json("webhooks", "list", "--limit", "1")).toEqual([third]);
    expect(await tollgate.json("webhooks", "list", "--status", "failed")).toEqual([failed]);
    expect(await tollgate.json("webhooks", "list", "--status", "pending")).toEqual([]);
    expect(await tollgate.json("webhooks", "list", "--slot", "provider-b")).toEqual([third]);
    expect(await tollgate.json("webhooks", "list", "--slot", "provider-a", "--status", "successful")).toEqual(
      [delivery({ eventId: "list-1" })],
    );
  });

  it("prints a table, without colours unless the output is a terminal", async () => {
    await delivered("table-1", "user_1");
    const piped = tollgateProcessIn(serverVariables(test.url));
    const { code, stdout } = await piped("webhooks", "list", "--limit", "1");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\s*id\s+slot\s+event type\s+status/);
    expect(stdout).toMatch(/provider-a\s+customer\.subscription\.created\s+successful/);
    expect(stdout).not.toContain("\u001b");
    const forced = tollgateProcessIn({ ...serverVariables(test.url), FORCE_COLOR: "1" });
    expect((await forced("webhooks", "list", "--limit", "1")).stdout).toContain("\u001b[32msuccessful");
  });

  it("prints no escape sequences that a delivery contains", async () => {
    // Terminals take the second for the first two characters of the first, and the third turns what follows around.
    const steering = ["\u001b[2J", "\u009b2J", "\u202e"];
    const { id, body } = await delivered("steer", `${steering.join("")}nobody`);
    for (const args of [["list"], ["show", id], ["replay", id], ["show", id, "--json"]]) {
      const { stdout, stderr } = await tollgate("webhooks", ...args);
      for (const [character] of steering) expect(stdout + stderr).not.toContain(character);
    }
    expect((await tollgate.json("webhooks", "show", id)).payload).toEqual(body);
  });

  it("exits with 0 when its reader closes the pipe", async () => {
    const env = { PATH: process.env.PATH, ...serverVariables(test.url) };
    const stdio = ["ignore", "pipe", "pipe"] as const;
    const unread = spawn(process.execPath, [ENTRY, "webhooks", "list", "--json"], { env, stdio: [...stdio] });
    unread.stdout?.destroy();
    const [complaints, end] = await Promise.all([text(unread.stderr as Readable), once(unread, "exit")]);
    expect({ complaints, end }).toEqual({ complaints: "", end: [0, null] });
  });
});

describe("webhooks show", () => {
  it("prints one delivery with its payload and its attempts", async () => {
    const { id, body } = await delivered("show-1", "user_1");
    expect(await tollgate.json("webhooks", "show", id)).toEqual({
      ...delivery({ id, eventId: "show-1" }),
      payload: body,
      attemptLog: [
        {
          attempt: 1,
          source: "delivery",
          outcome: "successful",
          error: null,
          reason: null,
          params: null,
          startedAt: expect.stringMatching(TIME),
          durationMs: expect.any(Number),
          subscriptionId: expect.stringMatching(/^[0-9a-f-]{36}$/),
          changes: expect.objectContaining({ planId: [null, "pro"] }),
        },
      ],
    });
    const { stdout } = await tollgate("webhooks", "show", id);
    expect(stdout).toContain('"object": "subscription"');
    expect(stdout).toMatch(/1\s+delivery\s+successful/);
  });

  it("says when a delivery failed, not that it was completed", async () => {
    const { id } = await delivered("show-failed", "nobody");
    const { stdout } = await tollgate("webhooks", "show", id);
    expect(stdout).toMatch(/^failed\s+\d{4}-/m);
    expect(stdout).not.toMatch(/^completed\b/m);
  });

  it("reports that the payload is no longer stored", async () => {
    const { id } = await delivered("show-2", "user_1");
    await test.rows("update webhook_delivery set payload = null where id = $1", [id]);
    expect(await tollgate.json("webhooks", "show", id)).toMatchObject({ payload: null });
    expect((await tollgate("webhooks", "show", id)).stdout).toContain("payload no longer stored");
  });

  it("fails for an unknown id", async () => {
    expect(await tollgate("webhooks", "show", "999999")).toEqual({
      code: 1,
      stdout: "",
      stderr: "No such delivery\n",
    });
    expect(await tollgate.json("webhooks", "show", "999999")).toEqual({
      error: "No such delivery",
    });
  });
});

describe("webhooks replay", () => {
  it("makes a new attempt at a failed delivery, and prints why it failed again", async () => {
    const { id } = await delivered("replay-1", "later");
    const secondReplay = await tollgate("webhooks", "replay", id);
    expect(secondReplay.code).toBe(1);
    expect(secondReplay.stderr).toBe(`the replay of delivery ${id} failed: user: there is no user "later"\n`);

    await test.rows(`insert into "user" (id, name, email) values ('later', 'Later', 'later@example.com')`);
    expect(await tollgate.json("webhooks", "replay", id)).toEqual({
      ...delivery({ id, eventId: "replay-1", attempts: 3 }),
      outcome: "applied",
      error: null,
      reason: null,
    });
    const { attemptLog } = await tollgate.json("webhooks", "show", id);
    expect(
      attemptLog.map(
        (attempt: { source: string; outcome: string }) => `${attempt.source} ${attempt.outcome}`,
      ),
    ).toEqual(["delivery failed", "replay failed", "replay successful"]);
  });

  it("processes all failed deliveries with --failed, oldest first, also those without a next attempt", async () => {
    await tollgate("webhooks", "replay", "--failed");
    const dropped = await delivered("dropped", "nobody");
    await test.rows("update webhook_delivery set payload = null where id = $1", [dropped.id]);
    const lasting = await delivered("all-0", "never");
    const failed = [];
    for (const n of [1, 2, 3]) failed.push(await delivered(`all-${n}`, "mended"));
    const elsewhere = await delivered("all-4", "mended", "provider-b");
    await test.rows("update webhook_delivery set next_attempt_at = null where event_id like 'all-%'");
    await test.rows(`insert into "user" (id, name, email) values ('mended', 'Mended', 'mended@example.com')`);

    const { code, stdout, stderr } = await tollgate("webhooks", "replay", "--failed", "--slot", "provider-a");
    expect(stdout).toMatch(/^applied 3, ignored 0, failed again \d+, skipped 1\n$/);
    expect(stderr).toMatch(/^\d+ failed again: see webhooks list --status failed\n$/);
    expect(code).toBe(1);
    const ids = [lasting, ...failed].map(({ id }) => id);
    const attempts = await test.rows<{ id: string }>(
      "select delivery_id::text as id from webhook_attempts where source = 'replay' and delivery_id = any ($1) order by started_at",
      [ids],
    );
    expect(attempts.map(({ id }) => id)).toEqual(ids);
    expect(await tollgate.json("webhooks", "show", elsewhere.id)).toMatchObject({ status: "failed" });
    expect(await tollgate.json("webhooks", "replay", "--failed")).toMatchObject({ applied: 1, skipped: 1 });

    const gone = await delivered("all-5", "nobody", "provider-b");
    await test.rows("update webhook_delivery set payload = null where id = $1", [gone.id]);
    const counts = "applied 0, ignored 0, failed again 0, skipped 1\n";
    const replayed = () => tollgate("webhooks", "replay", "--failed", "--slot", "provider-b");
    expect(await replayed()).toMatchObject({ code: 0, stdout: counts, stderr: "" });
    const slow = await delivered("all-6", "nobody", "provider-b");
    await test.rows(`create function refuse_all_6() returns trigger language plpgsql as
      $$begin raise exception 'timed out' using errcode = '57014'; end$$`);
    await test.rows(`create trigger refuse_all_6 before update on webhook_delivery
      for each row when (new.event_id = 'all-6') execute function refuse_all_6()`);
    const stopped = await replayed();
    await test.rows("drop function refuse_all_6 cascade");
    expect(stopped).toMatchObject({ code: 1, stdout: counts });
    expect(stopped.stderr).toContain(`stopped at delivery ${slow.id}, 1 left: `);
  });

  it("needs --force for a successful delivery, every time", async () => {
    const { id } = await delivered("replay-2", "user_2");
    const refused = await tollgate("webhooks", "replay", id);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toBe(`Delivery ${id} already succeeded: pass --force to replay it\n`);
    for (const attempts of [2, 3]) {
      expect(await tollgate.json("webhooks", "replay", id, "--force")).toMatchObject({
        outcome: "applied",
        status: "successful",
        attempts,
      });
    }
  });

  it("leaves a successful delivery successful when the replay fails", async () => {
    const { id } = await delivered("replay-3", "user_0");
    await test.rows(`delete from "user" where id = 'user_0'`);
    const { code, stdout } = await tollgate("webhooks", "replay", id, "--force", "--json");
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ outcome: "failed", status: "successful", lastError: null });
  });

  it("is refused for a delivery that is being processed, with and without --force", async () => {
    const { id } = await delivered("replay-4", "user_1");
    await test.rows(
      "update webhook_delivery set status = 'pending', lease_until = clock_timestamp() + interval '1 hour' where id = $1",
      [id],
    );
    for (const args of [[], ["--force"]]) {
      const { code, stderr } = await tollgate("webhooks", "replay", id, ...args);
      expect(code).toBe(1);
      expect(stderr).toMatch(/is being processed/);
    }
  });

  it("fails for an unknown id", async () => {
    const { code, stderr } = await tollgate("webhooks", "replay", "999999");
    expect({ code, stderr }).toEqual({ code: 1, stderr: "No such delivery\n" });
  });
});

describe("without a running server and its retry job", () => {
  beforeAll(async () => {
    await server.end("SIGTERM");
  });

  it("webhooks replay takes over a delivery whose lease has run out", async () => {
    const [row] = await test.rows<{ id: string }>(
      "update webhook_delivery set lease_until = clock_timestamp() where event_id = 'replay-4' returning id::text",
    );
    expect(await tollgate.json("webhooks", "replay", row?.id as string)).toMatchObject({
      outcome: "applied",
      attempts: 2,
    });
  });

  it("webhooks retry counts the outcomes of everything that was due", async () => {
    const due = async (eventId: string, status: "failed" | "pending") =>
      test.rows(
        `update webhook_delivery set status = $2, next_attempt_at = case when $2 = 'failed' then now() end,
           lease_until = case when $2 = 'pending' then now() end where event_id = $1`,
        [eventId, status],
      );
    await test.rows(
      "update webhook_delivery set next_attempt_at = now() + interval '1 hour' where status = 'failed'",
    );
    await due("list-1", "pending");
    await due("show-1", "failed");
    await due("list-2", "failed");
    expect(await tollgate.json("webhooks", "retry")).toEqual({
      applied: 2,
      ignored: 0,
      failed: 1,
      gaveUp: 0,
    });
    expect(await tollgate("webhooks", "retry")).toEqual({
      code: 0,
      stdout: "applied 0, ignored 0, failed again 0, given up 0\n",
      stderr: "",
    });
  });
});
