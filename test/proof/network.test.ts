import { globSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { freshDatabase, type TestDatabase } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { describeWith, findProgram } from "../support/installed-programs.ts";
import { startRedis, type TestRedis } from "../support/redis.ts";
import { type ServerProcess, spawnServer } from "../support/server-process.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";
import { type EventLoad, expectHistoryKept, historyFigures, startEventLoad } from "./event-load.ts";
import { isFullProof, report } from "./proof.ts";
import { admitted, SHARED_LIMIT, untilCountsAreShared, withoutRedis } from "./shared-limit.ts";

const ROUNDS = isFullProof ? 10 : 1;
const PER_SECOND = isFullProof ? 200 : 60;
/** While a fault lasts, and after it. */
const EVENTS_PER_FAULT = PER_SECOND;
const LEASE_SECONDS = 3;

const programs = {
  "redis-server": findProgram("redis-server"),
  faketime: globSync("/usr/lib/*/faketime/libfaketime.so.1")[0] ?? null,
};

/** A server with a network of its own: to its clients, its database and its Redis. */
type Part = { server: ServerProcess; clients: TcpProxy; database: TcpProxy; redis: TcpProxy };

describeWith("servers whose network, processes and clocks fail", programs, (installed) => {
  let test: TestDatabase;
  let redis: TestRedis;
  let parts: [Part, Part];
  beforeAll(async () => {
    test = await freshDatabase();
    redis = await startRedis(installed["redis-server"]);
    // Within the tolerance of signatures, in both directions.
    parts = [await startPart("+200s"), await startPart("-200s")];
  });
  afterAll(async () => {
    for (const { server } of parts ?? []) await server.end("SIGTERM");
    await test.drop();
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
      LOG_LEVEL_ONCE_LISTENING: "fatal",
      LD_PRELOAD: installed.faketime,
      FAKETIME: clock,
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
    });
    const clients = await startTcpProxy(Number(new URL(server.url).port));
    return { server, clients, database, redis: toRedis };
  }

  const urls = () => parts.map(({ clients }) => `http://127.0.0.1:${clients.port}`);

  /** What is done to the first server; the second goes on. */
  const FAULTS: Record<string, (part: Part, load: EventLoad) => Promise<() => void>> = {
    "database cut": async ({ database }) => {
      database.cut();
      return database.restore;
    },
    "database slow": async ({ database }) => {
      database.set({ delayMs: 100 });
      return database.restore;
    },
    "database one-sided, no answers": async ({ database }) => {
      database.set({ toClient: "held" });
      return database.restore;
    },
    "database one-sided, no statements": async ({ database }) => {
      database.set({ toServer: "held" });
      return database.restore;
    },
    "provider cut, answers lost": async ({ clients }, load) => {
      clients.set({ toClient: "held" });
      await load.more(EVENTS_PER_FAULT / 2);
      clients.cut();
      return clients.restore;
    },
    "provider slow": async ({ clients }) => {
      clients.set({ delayMs: 100 });
      return clients.restore;
    },
    "process stopped": async ({ server }) => {
      server.child.kill("SIGSTOP");
      return () => server.child.kill("SIGCONT");
    },
    "redis cut": async ({ redis: toRedis }) => {
      toRedis.cut();
      return toRedis.restore;
    },
  };

  it(`keep every acknowledged event, each with one effect, over ${ROUNDS * Object.keys(FAULTS).length} faults`, {
    timeout: 300_000 * ROUNDS,
  }, async () => {
    const load = startEventLoad(urls(), "network", PER_SECOND);
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const inject of Object.values(FAULTS)) {
        const undo = await inject(parts[round % 2] as Part, load);
        await load.more(EVENTS_PER_FAULT);
        undo();
        await load.more(EVENTS_PER_FAULT);
      }
    }
    const history = await load.stop();
    await expectHistoryKept(test, "network", history);
    const faults = `${ROUNDS} x ${Object.keys(FAULTS).join(" / ")}`;
    await report("network", { ...historyFigures(history), faults, lost: 0, doubled: 0 });
  });

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
      for (const part of parts) disturb(part.redis);
      const { atLeast, atMost } = withoutRedis(urls());
      const counts: number[] = [];
      for (let client = 0; client < (isFullProof ? 50 : 5); client += 1) counts.push(await admitted(urls()));
      for (const count of counts) {
        expect(count).toBeGreaterThanOrEqual(atLeast);
        expect(count).toBeLessThanOrEqual(atMost);
      }
      const restoredAt = performance.now();
      for (const part of parts) part.redis.restore();
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
