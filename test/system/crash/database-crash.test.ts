import { Agent } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { startPostgresCluster } from "../../support/cluster.ts";
import { numberedEvent } from "../../support/events.ts";
import { eventually } from "../../support/eventually.ts";
import { deliverWebhook } from "../../support/http.ts";
import { expectEachAppliedOnce } from "../../support/ledger.ts";
import { spawnServer } from "../../support/server-process.ts";

it("keeps an event whose repeat was acknowledged right before PostgreSQL was killed", {
  timeout: 120_000,
}, async () => {
  const cluster = await startPostgresCluster(20);
  // Nobody else flushes: what the acknowledgement did not make durable is lost by the crash.
  await cluster.rows("alter system set wal_writer_delay = '10s'");
  await cluster.rows("alter system set wal_writer_flush_after = '1GB'");
  await cluster.rows("select pg_reload_conf()");
  await sleep(300);
  const lease = { WEBHOOK_LEASE_SECONDS: "2" };
  const second = await spawnServer(cluster.url, lease);
  const rounds = 8;
  for (let round = 0; round < rounds; round += 1) {
    const first = await spawnServer(cluster.url, { ...lease, CRASH_AT: "claimed:1:SIGSTOP" });
    const delivery = numberedEvent("flush", round);
    const stuck = deliverWebhook(first.url, "provider-a", delivery).catch(() => null);
    const look = () =>
      cluster.rows("select status from webhook_delivery where event_id = $1", [`flush-${round}`]);
    await eventually(look, [{ status: "pending" }]);
    const repeat = await deliverWebhook(second.url, "provider-a", delivery);
    await cluster.end("SIGKILL");
    expect(repeat.body).toEqual({ received: true, duplicate: true });
    await first.end("SIGKILL");
    await stuck;
    await cluster.reachable();
    expect(await look()).toHaveLength(1);
  }
  // Nobody sends them again, they were acknowledged: only webhook-retry can finish them.
  await expectEachAppliedOnce(cluster, "flush", rounds);
  await second.end("SIGTERM");
  await cluster.remove();
});

it("answers only 503 and loses nothing acknowledged while PostgreSQL restarts under load", {
  timeout: 120_000,
}, async () => {
  const cluster = await startPostgresCluster(20);
  const server = await spawnServer(cluster.url, { WEBHOOK_LEASE_SECONDS: "2" });
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  const statuses = new Map<number, number>();
  const acknowledged: number[] = [];
  let next = 0;
  let over = false;
  const senders = Array.from({ length: 16 }, async () => {
    while (!over) {
      const n = next++;
      for (let done = false; !done; ) {
        const answer = await deliverWebhook(server.url, "provider-a", numberedEvent("outage", n), { agent });
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
        done = answer.status === 200;
        if (answer.status === 503) expect(answer.fields["retry-after"]).toMatch(/^\d+$/);
        if (!done) await sleep(50);
      }
      acknowledged.push(n);
    }
  });
  for (const signal of ["SIGINT", "SIGKILL"] as const) {
    await sleep(700);
    await cluster.end(signal);
    await cluster.reachable();
  }
  await sleep(700);
  over = true;
  await Promise.all(senders);
  expect([...statuses.keys()].sort()).toEqual([200, 503]);
  expect(acknowledged).toHaveLength(next);
  await expectEachAppliedOnce(cluster, "outage", next);
  agent.destroy();
  await server.end("SIGTERM");
  await cluster.remove();
});
