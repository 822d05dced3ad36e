import { globSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { SUBSCRIPTION_EVENT_TYPES } from "../../src/domain/outbound/outbound-event.ts";
import { newEndpointSecret } from "../../src/outbound/sign.ts";
import { insertEndpoint } from "../../src/store/outbound/event-endpoints.ts";
import { numberedEvent } from "../fixtures/numbered-event.ts";
import { type Receiver, startReceiver } from "../outbound/receiver.ts";
import { freshDatabase, type TestDatabase } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { describeWith, findProgram } from "../support/installed-programs.ts";
import { startRedis, type TestRedis } from "../support/redis.ts";
import { spawnServer } from "../support/server-process.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";
import { expectNoFencedWrites, recordClaims } from "./claim-history.ts";
import { expectHistoryKept, historyFigures, LOAD_USERS, startEventLoad } from "./event-load.ts";
import { expectEventsReceived } from "./events-received.ts";
import { networkFaults, type Part, SHORT_FAULTS } from "./network-faults.ts";
import { isFullProof, report, startTimeline } from "./proof.ts";
import { admitted, SHARED_LIMIT, untilCountsAreShared, withoutRedis } from "./shared-limit.ts";

const ROUNDS = isFullProof ? 10 : 1;
const PER_SECOND = isFullProof ? 200 : 60;
/** While a fault lasts, and after it. */
const EVENTS_PER_FAULT = PER_SECOND;
/**
 * In a full run long enough for a slow database on a busy machine: each lease that runs out uses up an
 * attempt.
 */
const LEASE_SECONDS = isFullProof ? 10 : 3;
/** One event in so many is of a person who signs up only later: it fails first. */
const LATE_EVERY = 20;
const FAULT_COUNT = isFullProof ? 19 : SHORT_FAULTS.length;

function eventOf(n: number) {
  const userId = n % LATE_EVERY === 0 ? `late_${Math.floor(n / EVENTS_PER_FAULT)}` : `user_${n % LOAD_USERS}`;
  return numberedEvent("network", n, LOAD_USERS, "stripe", userId);
}

const programs = {
  "redis-server": findProgram("redis-server"),
  faketime: globSync("/usr/lib/*/faketime/libfaketime.so.1")[0] ?? null,
};

describeWith("servers whose network, processes and clocks fail", programs, (installed) => {
  let test: TestDatabase;
  let redis: TestRedis;
  let receiver: Receiver;
  let endpoint: TcpProxy;
  let parts: [Part, Part];
  const received = new Set<string>();
  beforeAll(async () => {
    test = await freshDatabase(LOAD_USERS);
    await recordClaims(test);
    receiver = await startReceiver((response, { event }) => {
      received.add(event.id);
      response.writeHead(204).end();
    });
    endpoint = await startTcpProxy(Number(new URL(receiver.url).port));
    await insertEndpoint(test.database, {
      url: `http://127.0.0.1:${endpoint.port}/hook`,
      types: SUBSCRIPTION_EVENT_TYPES,
      description: null,
      secret: newEndpointSecret(),
      createdBy: null,
    });
    redis = await startRedis(installed["redis-server"]);
    // Within the tolerance of signatures, in both directions.
    parts = [await startPart("+200s"), await startPart("-200s")];
  });
  afterAll(async () => {
    for (const { server } of parts ?? []) await server.end("SIGTERM");
    await test.drop();
    await receiver?.close();
    await redis?.remove();
  });

  async function startPart(clock: string): Promise<Part> {
    const databaseUrl = new URL(test.url);
    const database = await startTcpProxy(Number(databaseUrl.port));
    const toRedis = await startTcpProxy(Number(new URL(redis.url).port));
    databaseUrl.port = String(database.port);
    const server = await spawnServer(databaseUrl.href, {
      ...SHARED_LIMIT,
      REDIS_URL: `redis://127.0.0.1:${toRedis.port}`,
      WEBHOOK_LEASE_SECONDS: String(LEASE_SECONDS),
      OUTBOUND_ALLOW: "127.0.0.0/8",
      LOG_LEVEL_ONCE_LISTENING: "fatal",
      LD_PRELOAD: installed.faketime,
      FAKETIME: clock,
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
    });
    const provider = await startTcpProxy(Number(new URL(server.url).port));
    return { server, links: { provider, database, Redis: toRedis, "event endpoint": endpoint } };
  }

  const urls = () => parts.map(({ links: { provider } }) => `http://127.0.0.1:${provider.port}`);

  it(`keep every acknowledged event, each with one effect, over ${ROUNDS} x ${FAULT_COUNT} faults`, {
    timeout: 600_000 * ROUNDS,
  }, async () => {
    const faults = Object.entries(networkFaults(redis)).filter(
      ([name]) => isFullProof || SHORT_FAULTS.includes(name),
    );
    expect(faults).toHaveLength(FAULT_COUNT);
    const { note, lines } = startTimeline();
    const load = startEventLoad(urls(), "network", PER_SECOND, eventOf);
    /** Now that their events have failed, those are claimed a second time: with a lease. */
    const signUp = async (count: number) => {
      await test.rows(
        `insert into "user" (id, name, email) select 'late_' || n, 'Late', 'late_' || n || '@example.com'
         from generate_series(0, $1::int - 1) n on conflict do nothing`,
        [count],
      );
    };
    const faultsStarted = () => Math.floor(load.history.answers.length / EVENTS_PER_FAULT);
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [name, inject] of faults) {
        // What one does the other goes on without; the next round it is the other's turn.
        const undo = inject(parts[round % 2] as Part);
        await signUp(faultsStarted());
        await load.more(EVENTS_PER_FAULT);
        // A server that is stopped for longer than its lease must find itself fenced.
        if (name === "server stopped") await sleep(LEASE_SECONDS * 1_000);
        undo();
        note(`${name}, server ${(round % 2) + 1}`);
        await signUp(faultsStarted());
        await load.more(EVENTS_PER_FAULT);
      }
    }
    const stopping = load.stop();
    await signUp(faultsStarted() + 2);
    const history = await stopping;
    const exhausted = await retryFailed();
    await expectHistoryKept(test, "network", history, [200, 500, 503, "unknown"]);
    const { again, takenOver } = await expectNoFencedWrites(test);
    expect(again).toBeGreaterThan(0);
    await expectEventsReceived(test, received);
    const facts = {
      faults: ROUNDS * faults.length,
      "claimed again": again,
      "taken over": takenOver,
      exhausted,
    };
    await report(
      "network",
      { ...historyFigures(history), ...facts, lost: 0, doubled: 0, "written by fenced processes": 0 },
      lines,
    );
  });

  /**
   * A copy that comes while another is processed is acknowledged. If that one fails, as its person is
   * missing, the next attempt may be hours away, or left to the operator: both are made now.
   * @returns how many were left to the operator
   */
  async function retryFailed(): Promise<number> {
    const [row] = await test.rows<{ exhausted: number }>(
      "select count(*)::int as exhausted from webhook_delivery where status = 'failed' and next_attempt_at is null",
    );
    const open = async () => {
      await test.rows(
        "update webhook_delivery set next_attempt_at = clock_timestamp() where status = 'failed'",
      );
      return (await test.rows("select from webhook_delivery where status <> 'successful'")).length;
    };
    await eventually(open, 0, 300_000);
    return row?.exhausted ?? 0;
  }

  it.each<[string, (toRedis: TcpProxy) => void]>([
    ["is cut off", (toRedis) => toRedis.cut()],
    ["is slow", (toRedis) => toRedis.set({ delayMs: 500 })],
    ["does not receive", (toRedis) => toRedis.set({ toServer: "held" })],
    ["is not heard", (toRedis) => toRedis.set({ toClient: "held" })],
  ])(
    "exceed no limit by more than their number while Redis %s",
    { timeout: 300_000 },
    async (title, disturb) => {
      await untilCountsAreShared(urls());
      for (const part of parts) disturb(part.links.Redis);
      const { atLeast, atMost } = withoutRedis(urls());
      const counts: number[] = [];
      for (let client = 0; client < (isFullProof ? 50 : 5); client += 1) counts.push(await admitted(urls()));
      for (const count of counts) {
        expect(count).toBeGreaterThanOrEqual(atLeast);
        expect(count).toBeLessThanOrEqual(atMost);
      }
      const restoredAt = performance.now();
      for (const part of parts) part.links.Redis.restore();
      await untilCountsAreShared(urls());
      await report("network", {
        redis: title,
        servers: urls().length,
        "limit per client": atLeast,
        "most admitted": Math.max(...counts),
        "ms until counts were shared again": Math.round(performance.now() - restoredAt),
      });
    },
  );

  it("reject all signatures while their clock is an hour off, and store nothing", async () => {
    const wrong = await spawnServer(test.url, {
      LD_PRELOAD: installed.faketime,
      FAKETIME: "+1h",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
    });
    const load = startEventLoad([wrong.url, urls()[1] as string], "hour", PER_SECOND);
    await load.more(PER_SECOND);
    const { answers } = await load.stop();
    const atWrongClock = answers.flatMap((answersOfEvent, n) =>
      answersOfEvent.filter((_, attempt) => (n + attempt) % 2 === 0),
    );
    // 503 is for overload, which is looked at before the signature.
    expect(atWrongClock).toContain(400);
    expect(atWrongClock).not.toContain(200);
    await eventually(
      () => test.rows("select count(*)::int as count from webhook_delivery where event_id like 'hour-%'"),
      [{ count: answers.length }],
    );
    await wrong.end("SIGTERM");
  });
});
