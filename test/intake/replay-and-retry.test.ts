import { beforeEach, describe, expect, it } from "vitest";
import { OPERATOR } from "../../src/domain/callers/caller.ts";
import { secondsUntilRetry } from "../../src/domain/deliveries/delivery.ts";
import type { ClaimedEvent } from "../../src/intake/claimed-event.ts";
import { replay } from "../../src/intake/claims/replay.ts";
import { retryDue } from "../../src/intake/claims/retry.ts";
import { replayDelivery } from "../../src/operations/webhooks/replay-delivery.ts";
import { fixtureDelivery } from "../fixtures/fixture.ts";
import { freshRuntime } from "../support/fresh-runtime.ts";
import { startTestRuntime } from "../support/runtime.ts";
import { SECRETS } from "../support/variables.ts";

const { test, runtime } = freshRuntime({ users: 3 });

describe("replay", () => {
  it("refuses a successful delivery without force, and records a new attempt with it", async () => {
    const id = await received("ok", { userId: "user_1" });
    expect(await replay(runtime.intake, id, { force: false, by: OPERATOR })).toEqual({
      outcome: "refused",
      because: "successful",
    });
    expect(await replay(runtime.intake, id, { force: true, by: OPERATOR })).toEqual({ outcome: "applied" });
    expect(await replay(runtime.intake, id, { force: true, by: OPERATOR })).toEqual({ outcome: "applied" });
    // By which the attempt would be logged if this process ended now.
    expect(await delivery(id)).toMatchObject({ status: "successful", claim_no: 3, claim_source: "replay" });
    expect(await attempts(id)).toEqual(["delivery successful", "replay successful", "replay successful"]);
  });

  it("records a forced replay that never reported back", async () => {
    const id = await received("vanished", { userId: "user_1" });
    await test.rows("update webhook_delivery set claim_no = 2, claim_source = 'replay' where id = $1", [id]);
    expect(await replay(runtime.intake, id, { force: true, by: OPERATOR })).toEqual({ outcome: "applied" });
    expect(await attempts(id)).toEqual(["delivery successful", "replay failed", "replay successful"]);
  });

  it("leaves a successful delivery successful when a forced replay fails", async () => {
    const id = await received("turns bad", { userId: "user_2" });
    const before = await delivery(id);
    await test.rows("delete from subscription where user_id = 'user_2'");
    await test.rows(`delete from "user" where id = 'user_2'`);
    expect(await replay(runtime.intake, id, { force: true, by: OPERATOR })).toMatchObject({
      outcome: "failed",
    });
    const { claim_no, claimed_at, claim_source, ...rest } = await delivery(id);
    expect(before).toMatchObject(rest);
    expect(claim_no).toBe(2);
    expect(await attempts(id)).toEqual(["delivery successful", "replay failed"]);
  });

  it("refuses a pending delivery while its lease runs and takes it over afterwards", async () => {
    const id = await received("pending", { userId: "user_1" });
    await test.rows(
      "update webhook_delivery set status = 'pending', lease_until = clock_timestamp() + interval '1 hour' where id = $1",
      [id],
    );
    for (const force of [false, true]) {
      expect(await replay(runtime.intake, id, { force, by: OPERATOR })).toEqual({
        outcome: "refused",
        because: "lease running",
      });
    }
    await test.rows("update webhook_delivery set lease_until = clock_timestamp() where id = $1", [id]);
    expect(await replay(runtime.intake, id, { force: false, by: OPERATOR })).toEqual({ outcome: "applied" });
    expect(await delivery(id)).toMatchObject({ status: "successful", claim_no: 2 });
  });

  it("replays an exhausted delivery any number of times", async () => {
    const id = await received("exhausted", { userId: "nobody" });
    await test.rows("update webhook_delivery set claim_no = 12, next_attempt_at = null where id = $1", [id]);
    for (const claimNo of [13, 14]) {
      expect(await replay(runtime.intake, id, { force: false, by: OPERATOR })).toMatchObject({
        outcome: "failed",
      });
      expect(await delivery(id)).toMatchObject({
        status: "failed",
        claim_no: claimNo,
        next_attempt_at: null,
      });
    }
    await test.rows(`insert into "user" (id, name, email) values ('nobody', 'N', 'nobody@example.com')`);
    expect(await replay(runtime.intake, id, { force: false, by: OPERATOR })).toEqual({ outcome: "applied" });
  });

  it("refuses an unknown delivery", async () => {
    expect(await replay(runtime.intake, "999999", { force: true, by: OPERATOR })).toEqual({
      outcome: "refused",
      because: "not found",
    });
  });

  it.each([
    { status: "successful", userId: "user_1" },
    { status: "failed", userId: "unknown" },
  ])("refuses a $status delivery whose payload was dropped", async ({ status, userId }) => {
    const id = await received(`pruned ${status}`, { userId });
    await test.rows("update webhook_delivery set payload = null where id = $1", [id]);
    expect(await replay(runtime.intake, id, { force: true, by: OPERATOR })).toEqual({
      outcome: "refused",
      because: "payload dropped",
    });
    expect(await delivery(id)).toMatchObject({ status, claim_no: 1 });
  });

  it("says so when another process has taken the delivery over meanwhile", async () => {
    const id = await received("taken over", { userId: "late_7" });
    const { attempts: real } = runtime.intake;
    const submit = async (event: ClaimedEvent) => {
      await test.rows("update webhook_delivery set claim_no = claim_no + 1 where id = $1", [id]);
      return real.submit(event);
    };
    const intake = { ...runtime.intake, attempts: { ...real, submit } };
    const replaying = replayDelivery.run({ intake }, OPERATOR, { id, force: false }, {});
    await expect(replaying).rejects.toMatchObject({ reason: "delivery_taken_over" });
    expect(await delivery(id)).toMatchObject({ status: "pending", claim_no: 3 });
  });

  it("says so when its outcome is unknown", async () => {
    const id = await received("unknown", { userId: "late_8" });
    const submit = async () => ({ outcome: "unavailable" }) as const;
    const intake = { ...runtime.intake, attempts: { ...runtime.intake.attempts, submit } };
    const replaying = replayDelivery.run({ intake }, OPERATOR, { id, force: false }, {});
    await expect(replaying).rejects.toMatchObject({ reason: "replay_outcome_unknown" });
  });
});

describe("webhook-retry", () => {
  // What earlier tests have left would become due meanwhile.
  beforeEach(() => test.rows("update webhook_delivery set next_attempt_at = null"));

  it("retries only what is due", async () => {
    const due = await received("due", { userId: "late_1" });
    const later = await received("later", { userId: "late_2" });
    await test.rows(
      `insert into "user" (id, name, email) values ('late_1', 'L', 'l1@example.com'), ('late_2', 'L', 'l2@example.com')`,
    );
    await test.rows(
      `update webhook_delivery set next_attempt_at = clock_timestamp() +
         case when id = $1 then interval '0' else interval '1 hour' end where id = any ($2)`,
      [due, [due, later]],
    );
    expect(await retryDue(runtime.intake)).toEqual({ applied: 1, ignored: 0, failed: 0, gaveUp: 0 });
    expect(await delivery(due)).toMatchObject({ status: "successful", claim_no: 2, next_attempt_at: null });
    expect(await attempts(due)).toEqual(["delivery failed", "retry successful"]);
    expect(await delivery(later)).toMatchObject({ status: "failed", claim_no: 1 });
  });

  it("holds a few megabytes of bodies at once, however many are due", async () => {
    await test.rows(
      `insert into webhook_delivery (provider, event_id, event_type, format, status, claim_source, next_attempt_at, payload)
       select 'provider-a', 'large ' || n, 'x', 'stripe', 'failed', 'delivery', clock_timestamp(),
         to_json((select string_agg(gen_random_uuid()::text, '') from generate_series(1, 25000)))
       from generate_series(1, 20) n`,
    );
    const heldBytes: number[] = [];
    const reached = async () => {
      const [held] = await test.rows<{ bytes: number }>(
        "select sum(octet_length(payload::text))::int as bytes from webhook_delivery where status = 'pending'",
      );
      heldBytes.push(held?.bytes ?? 0);
    };
    expect(await retryDue({ ...runtime.intake, reached })).toMatchObject({ ignored: 20 });
    expect(heldBytes.length).toBeGreaterThan(3);
    expect(Math.max(...heldBytes)).toBeLessThan(5_000_000);
  });

  it("stops between batches on request", async () => {
    const id = await received("stopping", { userId: "late_4" });
    await test.rows(`insert into "user" (id, name, email) values ('late_4', 'L', 'l4@example.com')`);
    await test.rows("update webhook_delivery set next_attempt_at = clock_timestamp() where id = $1", [id]);
    expect(await retryDue(runtime.intake, () => true)).toMatchObject({ applied: 0 });
    expect(await delivery(id)).toMatchObject({ status: "failed", claim_no: 1 });
    expect(await retryDue(runtime.intake)).toMatchObject({ applied: 1 });
  });

  it("backs off, gives up after the twelfth attempt, and then applies only a redelivery", async () => {
    const request = requestOf("stubborn", { userId: "stranger" });
    expect((await runtime.intake.receive("provider-a", request)).outcome).toBe("failed");
    const id = await idOf("stubborn");
    for (let attempt = 1; attempt <= 12; attempt += 1) {
      if (attempt > 1) {
        await test.rows("update webhook_delivery set next_attempt_at = clock_timestamp() where id = $1", [
          id,
        ]);
        await retryDue(runtime.intake);
      }
      const row = await delivery(id);
      expect(row).toMatchObject({ status: "failed", claim_no: attempt });
      if (attempt === 12) {
        expect(row.next_attempt_at).toBeNull();
        continue;
      }
      const seconds = (Number(row.next_attempt_at) - Number(row.completed_at)) / 1000;
      const nominal = Math.min(15 * 4 ** (attempt - 1), 21_600);
      expect(seconds).toBeGreaterThanOrEqual(nominal * 0.799);
      // The two times are written one after the other.
      expect(seconds).toBeLessThanOrEqual(nominal * 1.2 + 10);
    }
    expect(await retryDue(runtime.intake)).toMatchObject({ applied: 0, failed: 0 });
    await test.rows(`insert into "user" (id, name, email) values ('stranger', 'S', 's@example.com')`);
    expect((await runtime.intake.receive("provider-a", request)).outcome).toBe("applied");
    expect(await delivery(id)).toMatchObject({ status: "successful", claim_no: 13 });
  });

  it("records an expired lease, and gives up a delivery whose process died in the last attempt", async () => {
    const id = await received("dies", { userId: "user_1" });
    const expire = (claimNo: number) =>
      test.rows(
        `update webhook_delivery set status = 'pending', claim_no = $2::int, lease_until = clock_timestamp() where id = $1`,
        [id, claimNo],
      );
    await expire(11);
    expect(await retryDue(runtime.intake)).toMatchObject({ applied: 1 });
    expect(await delivery(id)).toMatchObject({ status: "successful", claim_no: 12 });
    await expire(13);
    expect(await retryDue(runtime.intake)).toMatchObject({ gaveUp: 1, applied: 0 });
    expect(await delivery(id)).toMatchObject({
      status: "failed",
      last_error: "lease expired",
      last_reason: "lease_expired",
      next_attempt_at: null,
      lease_until: null,
    });
    const reasons = await test.rows(
      "select claim_no, reason, reason_id from webhook_attempts where delivery_id = $1 and outcome = 'failed' order by 1",
      [id],
    );
    expect(reasons).toEqual([
      { claim_no: 11, reason: "lease expired", reason_id: "lease_expired" },
      { claim_no: 13, reason: "lease expired", reason_id: "lease_expired" },
    ]);
  });

  it.each([
    { by: "retry", takeOver: async () => (await retryDue(runtime.intake)).applied === 1 },
    {
      by: "replay",
      takeOver: async (id: string) =>
        (await replay(runtime.intake, id, { force: false, by: OPERATOR })).outcome === "applied",
    },
    {
      by: "delivery",
      takeOver: async (_: string, request: ReturnType<typeof requestOf>) =>
        (await runtime.intake.receive("provider-a", request)).outcome === "applied",
    },
  ])("takes over what was claimed while the database's clock was ahead: $by", async ({ by, takeOver }) => {
    const overrides = { userId: `ahead_${by}` };
    const id = await received(`ahead ${by}`, overrides);
    await test.rows(`insert into "user" (id, name, email) values ($1, 'A', $1 || '@example.com')`, [
      overrides.userId,
    ]);
    await test.rows(
      `update webhook_delivery set status = 'pending', next_attempt_at = null,
         claimed_at = clock_timestamp() + interval '1 hour', lease_until = clock_timestamp() + interval '61 minutes'
       where id = $1`,
      [id],
    );
    expect(await takeOver(id, requestOf(`ahead ${by}`, overrides))).toBe(true);
    expect(await delivery(id)).toMatchObject({ status: "successful", claim_no: 2 });
  });

  it("retries what failed while the database's clock was ahead, and waits with what failed since", async () => {
    const overrides = { userId: "failed_ahead" };
    const early = await received("failed ahead", overrides);
    const waiting = await received("failed now", overrides);
    await test.rows(`insert into "user" (id, name, email) values ('failed_ahead', 'A', 'fa@example.com')`);
    await test.rows(
      `update webhook_delivery set next_attempt_at = next_attempt_at + interval '1 hour',
         completed_at = completed_at + case when id = $1 then interval '1 hour' else interval '0' end
       where id = any ($2)`,
      [early, [early, waiting]],
    );
    expect((await retryDue(runtime.intake)).applied).toBe(1);
    expect(await delivery(early)).toMatchObject({ status: "successful", claim_no: 2 });
    expect(await delivery(waiting)).toMatchObject({ status: "failed", claim_no: 1 });
  });

  it.each([
    { name: "body is no longer stored", change: "payload = null", reason: "payload_dropped", params: null },
    {
      name: "wire format is of no adapter",
      change: "format = 'bygone'",
      reason: "format_unknown",
      params: { format: "bygone" },
    },
  ])("fails a delivery whose $name, and applies the others", async ({ name, change, reason, params }) => {
    const ids = [
      await received(name, { userId: reason }),
      await received(`beside ${name}`, { userId: reason }),
    ];
    await test.rows(`insert into "user" (id, name, email) values ($1, 'U', $1 || '@example.com')`, [reason]);
    await test.rows(`update webhook_delivery set ${change} where id = $1`, [ids[0]]);
    await test.rows("update webhook_delivery set next_attempt_at = clock_timestamp() where id = any ($1)", [
      ids,
    ]);
    expect(await retryDue(runtime.intake)).toEqual({ applied: 1, ignored: 0, failed: 1, gaveUp: 0 });
    const [id = "", beside = ""] = ids;
    expect(await delivery(id)).toMatchObject({ status: "failed", claim_no: 2, last_reason: reason });
    expect(await delivery(beside)).toMatchObject({ status: "successful" });
    expect(
      await test.rows(
        "select reason_id, reason_params from webhook_attempts where delivery_id = $1 and claim_no = 2",
        [id],
      ),
    ).toEqual([{ reason_id: reason, reason_params: params }]);
  });

  it("uses the stored wire format after the slot is bound to another", async () => {
    const id = await received("rebound", { userId: "late_3" });
    await test.rows(`insert into "user" (id, name, email) values ('late_3', 'L', 'l3@example.com')`);
    const rebound = await startTestRuntime(test.url, { PROVIDER_A_ADAPTER: "paddle" });
    expect(await replay(rebound.intake, id, { force: false, by: OPERATOR })).toEqual({ outcome: "applied" });
    await rebound.close();
  });

  it("waits 15 s * 4^(n-1), at most 6 h, with 20 % jitter, twelve times", () => {
    expect(Array.from({ length: 12 }, (_, n) => secondsUntilRetry(n + 1, 0.5))).toEqual([
      15,
      60,
      240,
      960,
      3_840,
      15_360,
      21_600,
      21_600,
      21_600,
      21_600,
      21_600,
      null,
    ]);
    expect(secondsUntilRetry(1, 0)).toBe(12);
    expect(secondsUntilRetry(1, 1)).toBe(18);
  });
});

function requestOf(name: string, overrides: object) {
  const { rawBody, headers } = fixtureDelivery("stripe", "customer.subscription.updated", {
    secret: SECRETS["provider-a"],
    nowSeconds: Math.floor(Date.now() / 1000),
    eventId: name,
    subscriptionId: `sub ${name}`,
    customerId: `cus ${name}`,
    planId: "pro",
    ...overrides,
  });
  return { rawBody, header: (header: string) => headers[header] };
}

async function received(name: string, overrides: object): Promise<string> {
  await runtime.intake.receive("provider-a", requestOf(name, overrides));
  return idOf(name);
}

async function idOf(eventId: string): Promise<string> {
  const [row] = await test.rows<{ id: string }>("select id from webhook_delivery where event_id = $1", [
    eventId,
  ]);
  return row?.id ?? "";
}

async function delivery(id: string): Promise<Record<string, unknown>> {
  const [row] = await test.rows("select * from webhook_delivery where id = $1", [id]);
  return row ?? {};
}

async function attempts(id: string): Promise<string[]> {
  const rows = await test.rows<{ said: string }>(
    "select source || ' ' || outcome as said from webhook_attempts where delivery_id = $1 order by claim_no",
    [id],
  );
  return rows.map((row) => row.said);
}
