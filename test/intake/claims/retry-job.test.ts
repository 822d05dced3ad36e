import { expect, it, vi } from "vitest";
import { STALLED_AFTER_MS } from "../../../src/domain/end-when-stalled.ts";
import { startRetryJob } from "../../../src/intake/claims/retry-job.ts";
import type { Intake } from "../../../src/intake/intake.ts";
import { numberedEvent } from "../../fixtures/numbered-event.ts";
import { freshDatabase } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { deliverWebhook } from "../../support/http.ts";
import { spawnServer } from "../../support/server-process.ts";

it("runs webhook-retry in the server, logs failures under its name, and applies the events that can be applied", async () => {
  const test = await freshDatabase(0);
  const server = await spawnServer(test.url);
  const failed = await deliverWebhook(server.url, "provider-a", numberedEvent("retry-job", 0));
  expect([failed.status, failed.body]).toEqual([500, { error: "Processing failed" }]);

  const makeDue = () =>
    test.rows("update webhook_delivery set next_attempt_at = clock_timestamp() where status = 'failed'");
  const attempts = () => test.rows("select source, outcome from webhook_attempts order by claim_no");
  await makeDue();
  await eventually(attempts, [
    { source: "delivery", outcome: "failed" },
    { source: "retry", outcome: "failed" },
  ]);
  await eventually(async () => server.lines.some((line) => /"msg":"webhook-retry\b/.test(line)), true);

  await test.rows(`insert into "user" (id, name, email) values ('user_0', 'User 0', 'user_0@example.com')`);
  await makeDue();
  await eventually(() => test.rows("select status from webhook_delivery"), [{ status: "successful" }]);
  expect((await attempts()).at(-1)).toEqual({ source: "retry", outcome: "successful" });
  expect((await server.end("SIGTERM")).code).toBe(0);
  await test.drop();
});

it("gives up a pass that hangs, and retries go on", async () => {
  vi.useFakeTimers();
  let passes = 0;
  const silent = () => {
    passes += 1;
    return new Promise(() => {});
  };
  const lines: string[] = [];
  const intake = {
    database: { connection: silent },
    leaseSeconds: 30,
    log: { error: (_fields: object, message: string) => lines.push(message) },
  } as unknown as Intake;
  const outcomes: string[] = [];
  const job = startRetryJob(intake, { observe: (_job, outcome) => outcomes.push(outcome), runsOn: "timer" });
  await vi.advanceTimersByTimeAsync(5_000 + STALLED_AFTER_MS - 1);
  expect([passes, outcomes]).toEqual([1, []]);
  await vi.advanceTimersByTimeAsync(1 + 5_000);
  expect([passes, outcomes, lines]).toEqual([2, ["failed"], ["webhook-retry failed"]]);
  const stopped = job.stop();
  await vi.advanceTimersByTimeAsync(STALLED_AFTER_MS);
  await stopped;
  vi.useRealTimers();
});

it("finishes the running pass when it is stopped, and runs no further one", async () => {
  vi.useFakeTimers();
  let passes = 0;
  const connecting = Promise.withResolvers<never>();
  const connection = () => {
    passes += 1;
    return connecting.promise;
  };
  const log = { error() {} };
  const intake = { database: { connection }, leaseSeconds: 30, log } as unknown as Intake;
  const steps: string[] = [];
  const observe = (_job: string, outcome: string) => steps.push(outcome);
  const job = startRetryJob(intake, { observe, runsOn: "timer" });
  await vi.advanceTimersByTimeAsync(5_000);
  const stopped = job.stop().then(() => steps.push("stopped"));
  await vi.advanceTimersByTimeAsync(0);
  expect([passes, steps]).toEqual([1, []]);
  connecting.reject(new Error("no connection"));
  await stopped;
  await vi.advanceTimersByTimeAsync(60_000);
  expect([passes, steps]).toEqual([1, ["failed", "stopped"]]);
  vi.useRealTimers();
});

it("runs no pass by itself where passes are requested", async () => {
  vi.useFakeTimers();
  let passes = 0;
  const connection = async () => {
    passes += 1;
    throw new Error("no connection");
  };
  const log = { error() {} };
  const intake = { database: { connection }, leaseSeconds: 30, log } as unknown as Intake;
  const job = startRetryJob(intake, { observe: null, runsOn: "request" });
  expect(await job.runNow()).toBe("failed");
  await vi.advanceTimersByTimeAsync(60_000);
  expect(passes).toBe(1);
  await job.stop();
  vi.useRealTimers();
});
