import { readFile } from "node:fs/promises";
import { Agent } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openDatabase } from "../../../src/store/database.ts";
import { startEmbeddedPostgres } from "../../../src/store/embedded/embedded.ts";
import { migrate } from "../../../src/store/migrate.ts";
import { waitForDatabase } from "../../../src/store/wait-for-database.ts";
import { numberedEvent } from "../../fixtures/numbered-event.ts";
import { cleanedUp } from "../../support/cleanup.ts";
import { addUsers } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { deliverWebhook } from "../../support/http.ts";
import { expectEachAppliedOnce } from "../../support/ledger.ts";
import { spawnServer } from "../../support/server-process.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startPostgresCluster(20);
});
afterAll(() => cluster.remove());

it("keeps an event whose repeat was acknowledged right before PostgreSQL was killed", {
  timeout: 600_000,
}, async () => {
  // Nothing else flushes the log: the crash loses what the acknowledgement did not make durable.
  await cluster.rows("alter system set wal_writer_delay = '10s'");
  await cluster.rows("alter system set wal_writer_flush_after = '1GB'");
  await cluster.rows("select pg_reload_conf()");
  await eventually(() => cluster.rows("show wal_writer_delay"), [{ wal_writer_delay: "10s" }]);
  const lease = { WEBHOOK_LEASE_SECONDS: "2", PROVIDER_A_ADAPTER: "lemon-squeezy" };
  const second = await spawnServer(cluster.url, lease);
  const rounds = Number(process.env.CRASHES ?? 4);
  for (let round = 0; round < rounds; round += 1) {
    const first = await spawnServer(cluster.url, { ...lease, CRASH_AT: "claimed:1:SIGSTOP" });
    const delivery = numberedEvent("flush", round, 20, "lemon-squeezy");
    const stuck = deliverWebhook(first.url, "provider-a", delivery).catch(() => null);
    const storedDeliveries = () =>
      cluster.rows("select status from webhook_delivery where event_id like $1", [`flush-${round}:%`]);
    await eventually(storedDeliveries, [{ status: "pending" }]);
    const repeat = await deliverWebhook(second.url, "provider-a", delivery);
    await cluster.end("SIGKILL");
    expect(repeat.body).toEqual({ received: true, duplicate: true });
    await first.end("SIGKILL");
    await stuck;
    await cluster.reachable();
    expect(await storedDeliveries()).toHaveLength(1);
  }
  // They were acknowledged and are not sent again: only webhook-retry can finish them.
  await expectEachAppliedOnce(cluster, "flush", rounds);
  await second.end("SIGTERM");
  await cluster.rows("alter system reset all");
  await cluster.rows("select pg_reload_conf()");
});

it("returns only 503 and loses no acknowledged event while PostgreSQL restarts under load", {
  timeout: 120_000,
}, async () => {
  const server = await spawnServer(cluster.url, { WEBHOOK_LEASE_SECONDS: "2" });
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  const statuses = new Map<number, number>();
  const acknowledged: number[] = [];
  let next = 0;
  let over = false;
  const senders = Array.from({ length: 16 }, async () => {
    while (!over) {
      const n = next++;
      for (let isAccepted = false; !isAccepted; ) {
        const response = await deliverWebhook(server.url, "provider-a", numberedEvent("outage", n), {
          agent,
        });
        statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
        isAccepted = response.status === 200;
        if (response.status === 503) expect(response.fields["retry-after"]).toMatch(/^\d+$/);
        if (!isAccepted) await sleep(50);
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
});

it("acknowledges a repeat of an applied event only once the standbys have it", {
  timeout: 120_000,
}, async () => {
  const [first, second] = await Promise.all([spawnServer(cluster.url), spawnServer(cluster.url)]);
  const delivery = numberedEvent("standby", 0);
  const statusAt = async (url: string) => (await deliverWebhook(url, "provider-a", delivery)).status;
  expect(await statusAt(first.url)).toBe(200);
  // No standby is connected: a commit that has written anything waits for one.
  await cluster.rows("alter system set synchronous_standby_names = 'nobody'");
  await cluster.rows("select pg_reload_conf()");
  for (const { url } of [first, second]) await eventually(() => statusAt(url), 503);
  await cluster.rows("alter system reset synchronous_standby_names");
  await cluster.rows("select pg_reload_conf()");
  for (const { url } of [first, second]) await eventually(() => statusAt(url), 200);
  expect(
    await cluster.rows("select status, claim_no from webhook_delivery where event_id like 'standby-0%'"),
  ).toEqual([{ status: "successful", claim_no: 1 }]);
  await Promise.all([first.end("SIGTERM"), second.end("SIGTERM")]);
});

describe("a commit whose wait for a standby is ended by an administrator", () => {
  afterAll(() => setStandbys(""));

  const cancelWaits = () =>
    cluster.rows("select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'");

  it.each([
    ["cancels it", "stripe", cancelWaits],
    ["cancels it, at a provider whose events are claimed first", "lemon-squeezy", cancelWaits],
    ["switches synchronous replication off", "stripe", () => setStandbys("")],
  ] as const)("is not acknowledged: %s", { timeout: 120_000 }, async (title, format, endWaits) => {
    const server = await spawnServer(cluster.url, { PROVIDER_A_ADAPTER: format });
    await setStandbys("nobody");
    const run = title.replaceAll(/\W+/g, "-");
    let events = 0;
    let status: number | null = null;
    let answered: Promise<void>;
    // The setting is visible before PostgreSQL's checkpointer makes commits wait: until then they are acknowledged.
    do {
      events += status === 200 ? 1 : 0;
      status = null;
      answered = deliverWebhook(server.url, "provider-a", numberedEvent(run, events, 20, format)).then(
        (response) => {
          status = response.status;
        },
      );
      await eventually(async () => status !== null || (await isWaiting()), true);
    } while (status !== null);
    while (status === null) {
      await endWaits();
      await sleep(20);
    }
    await answered;
    expect(status).toBe(503);
    await setStandbys("");
    await expectEachAppliedOnce(cluster, run, events + 1);
    await server.end("SIGTERM");
  });

  /** Whether a commit that has written deliveries waits for a standby. */
  async function isWaiting(): Promise<boolean> {
    const waiting = await cluster.rows(
      `select from pg_locks l join pg_stat_activity a on a.pid = l.pid
       where l.relation = 'webhook_delivery'::regclass and l.mode = 'RowExclusiveLock' and a.wait_event = 'SyncRep'`,
    );
    return waiting.length > 0;
  }

  async function setStandbys(names: string): Promise<void> {
    await cluster.rows(`alter system set synchronous_standby_names = '${names}'`);
    await cluster.rows("select pg_reload_conf()");
    await eventually(
      () => cluster.rows("show synchronous_standby_names"),
      [{ synchronous_standby_names: names }],
    );
  }
});

type TestCluster = {
  url: string;
  rows<Row = Record<string, unknown>>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /**
   * Ends the whole PostgreSQL: `SIGKILL` as a crash would, `SIGINT` as an operator. It comes back by itself.
   */
  end(signal: "SIGKILL" | "SIGINT"): Promise<void>;
  reachable(): Promise<void>;
  remove(): Promise<void>;
};

/** A PostgreSQL of one test's own, to be killed and stopped, with the schema and `users` people. */
async function startPostgresCluster(users: number): Promise<TestCluster> {
  const folder = await temporaryFolder();
  const postgres = await startEmbeddedPostgres(folder);
  const database = openDatabase({
    url: postgres.adminUrl,
    prepared: false,
    maxConnections: 2,
    answerTimeoutMs: 30_000,
  });
  const rows: TestCluster["rows"] = (text, values = []) => database.run({ name: "test", text }, values);
  await migrate(database);
  await addUsers({ rows }, users);
  return {
    url: postgres.adminUrl,
    rows,
    end: async (signal) => {
      const file = join(folder, "postgres", "cluster", "postmaster.pid");
      const pid = Number((await readFile(file, "utf8")).split("\n")[0]);
      const family = signal === "SIGKILL" ? [pid, ...(await childrenOf(pid))] : [pid];
      for (const processId of family) process.kill(processId, signal);
      while (isAlive(pid)) await sleep(10);
    },
    reachable: () => waitForDatabase(database),
    remove: cleanedUp(async () => {
      await database.close();
      await postgres.stop();
    }),
  };
}

async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8");
  return text.split(" ").filter(Boolean).map(Number);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
