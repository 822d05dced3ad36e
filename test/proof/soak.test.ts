import { readdir } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { median } from "../../bench/shared/statistics.ts";
import { SUBSCRIPTION_EVENT_TYPES } from "../../src/domain/outbound/outbound-event.ts";
import { positionOfEvent } from "../../src/outbound/event-id.ts";
import { newEndpointSecret } from "../../src/outbound/sign.ts";
import { insertEndpoint } from "../../src/store/outbound/event-endpoints.ts";
import { numberedEvent } from "../fixtures/numbered-event.ts";
import { type Receiver, startReceiver } from "../outbound/receiver.ts";
import { builtPages } from "../support/built-pages.ts";
import { freshDatabase, type TestDatabase } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { deliverWebhook, sendRequest } from "../support/http.ts";
import { describeWith, findProgram } from "../support/installed-programs.ts";
import { createKey, createSession } from "../support/people.ts";
import { startRedis, type TestRedis } from "../support/redis.ts";
import { findServerAction, postForm } from "../support/server-action.ts";
import { type ServerProcess, spawnServer } from "../support/server-process.ts";
import { createServiceKey } from "../support/service-keys.ts";
import { storedEvents } from "../support/stored-events.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";
import { GENEROUS_LIMITS } from "../support/variables.ts";
import { type EventReaders, startEventReaders } from "./event-readers.ts";
import { expectEventsReceived } from "./events-received.ts";
import { type Measured, p99, pace, quantiles, watchMemory } from "./measure.ts";
import { isFullProof, report, startTimeline } from "./proof.ts";

const SECONDS = isFullProof ? Number(process.env.PROOF_SECONDS ?? 600) : 8;
const FAULT_EVERY_MS = isFullProof ? 60_000 : 2_000;
const FAULT_MS = isFullProof ? 3_000 : 300;
const CAPACITY_SECONDS = isFullProof ? 10 : 1;
const SENDERS = 16;
const USERS = 20;
const STREAM_READERS = 4;
/** How long after a fault requests may still be slow because of it. */
const RECOVERY_MS = 5_000;
/** Memory and descriptors at the end, over those after warming up. */
const MAX_GROWTH = { factor: 1.25, megabytes: 50, descriptors: 60 };

const KINDS = ["webhooks", "rest", "rpc", "graphql", "pages", "forms"] as const;
type Kind = (typeof KINDS)[number];
/** Of twenty requests. */
const SHARES: Record<Kind, number> = { webhooks: 7, rest: 4, rpc: 4, graphql: 2, pages: 2, forms: 1 };
const ALL_SHARES = Object.values(SHARES).reduce((sum, share) => sum + share, 0);

describeWith("a soak", { "redis-server": findProgram("redis-server") }, (programs) => {
  let test: TestDatabase;
  let redis: TestRedis;
  let toDatabase: TcpProxy;
  let toRedis: TcpProxy;
  let receiver: Receiver;
  let isReceiverFailing = false;
  const received = new Set<string>();
  let server: ServerProcess;
  let readers: EventReaders;
  let send: Record<Kind, () => Promise<{ status: number }>>;
  beforeAll(async () => {
    await builtPages();
    test = await freshDatabase(USERS);
    redis = await startRedis(programs["redis-server"]);
    const databaseUrl = new URL(test.url);
    toDatabase = await startTcpProxy(Number(databaseUrl.port));
    databaseUrl.port = String(toDatabase.port);
    toRedis = await startTcpProxy(Number(new URL(redis.url).port));
    receiver = await startReceiver((response, { event }) => {
      if (!isReceiverFailing) received.add(event.id);
      response.writeHead(isReceiverFailing ? 500 : 204).end();
    });
    server = await spawnServer(databaseUrl.href, {
      ...GENEROUS_LIMITS,
      REDIS_URL: `redis://127.0.0.1:${toRedis.port}`,
      OUTBOUND_ALLOW: "127.0.0.0/8",
      LOG_LEVEL_ONCE_LISTENING: "fatal",
    });
    await insertEndpoint(test.database, {
      url: receiver.url,
      types: SUBSCRIPTION_EVENT_TYPES,
      description: null,
      secret: newEndpointSecret(),
      createdBy: null,
    });
    const { key } = await createKey(server.url, { cookie: await createSession(test, "user_0") });
    const cookie = await createSession(test, "user_1");
    const updateProfile = findServerAction("updateProfile");
    let events = 0;
    let forms = 0;
    send = {
      webhooks: () => deliverWebhook(server.url, "provider-a", numberedEvent("soak", events++, USERS)),
      rest: () => sendRequest(server.url, "GET", "/api/users/me", { key }),
      rpc: () => sendRequest(server.url, "GET", "/api/trpc/user.me", { key }),
      graphql: () =>
        sendRequest(server.url, "POST", "/api/graphql", { key, body: { query: "{ me { id } }" } }),
      pages: () => sendRequest(server.url, "GET", "/sign-in"),
      forms: () => postForm(server.url, updateProfile, { name: `Name ${forms++}` }, { cookie }),
    };
    const { key: readersKey } = await createServiceKey(test, { permissions: ["events:read"] });
    readers = await startEventReaders(server.url, readersKey, STREAM_READERS);
  }, 300_000);
  afterAll(async () => {
    await readers?.stop();
    await server?.end("SIGTERM");
    await receiver?.close();
    await test?.drop();
    await redis?.remove();
  });

  /** Each lasts until it is undone. */
  const FAULTS: Record<string, () => () => void> = {
    "database cut": () => {
      toDatabase.cut();
      return toDatabase.restore;
    },
    "Redis cut": () => {
      toRedis.cut();
      return toRedis.restore;
    },
    "database slow": () => {
      toDatabase.set({ delayMs: 100 });
      return toDatabase.restore;
    },
    "event endpoint failing": () => {
      isReceiverFailing = true;
      return () => {
        isReceiverFailing = false;
      };
    },
    "process stopped": () => {
      server.child.kill("SIGSTOP");
      return () => server.child.kill("SIGCONT");
    },
  };

  it(`keeps its memory, descriptors and promises over ${SECONDS} s with a fault every ${FAULT_EVERY_MS / 1000} s`, {
    timeout: (SECONDS * 2 + 600) * 1_000,
  }, async () => {
    const capacity = await measureCapacity(send);
    const pid = server.child.pid as number;
    const memory = watchMemory(pid);
    const descriptors = [await countDescriptors(pid)];
    const { note, lines } = startTimeline();
    const faults: { fromMs: number; toMs: number }[] = [];
    let isOver = false;
    const breaking = (async () => {
      for (let nth = 0; !isOver; nth += 1) {
        await sleep(FAULT_EVERY_MS - FAULT_MS);
        descriptors.push(await countDescriptors(pid));
        const names = Object.keys(FAULTS);
        const name = names[nth % names.length] as string;
        const fromMs = performance.now();
        note(`${name}, for ${FAULT_MS / 1_000} s`);
        const undo = (FAULTS[name] as () => () => void)();
        await sleep(FAULT_MS);
        undo();
        faults.push({ fromMs, toMs: performance.now() + RECOVERY_MS });
      }
    })();
    const perSecond = capacity / 2;
    const measured = await Promise.all(
      KINDS.map((kind) => pace((perSecond * SHARES[kind]) / ALL_SHARES, SECONDS, send[kind])),
    );
    isOver = true;
    await breaking;
    await eventually(async () => (await sendRequest(server.url, "GET", "/api/ready")).status, 200);
    const [floors, medians] = [quantiles(memory.stop(), 0), quantiles(descriptors, 0.5)];

    const isBetweenFaults = (ms: number) => !faults.some(({ fromMs, toMs }) => ms >= fromMs && ms <= toMs);
    await report(
      "soak",
      {
        seconds: SECONDS,
        "requests per second": Math.round(perSecond),
        "half of a capacity of": Math.round(capacity),
        ...Object.fromEntries(
          KINDS.map((kind, index) => [kind, summary(measured[index] as Measured, isBetweenFaults)]),
        ),
        streams: `${STREAM_READERS} readers, ${readers.delaysMs.length} events, p99 ${p99(readers.delaysMs).toFixed(0)} ms after the change, ${readers.reconnects()} reconnects`,
        "lowest memory of the server in MB by fifths": floors.join(" "),
        "descriptors by fifths": medians.join(" "),
        "outbound events received": received.size,
      },
      lines,
    );
    for (const [index, kind] of KINDS.entries()) {
      // 0: the connection broke. 303: a form was saved. 503: database, overload or Redis.
      const { statuses } = measured[index] as Measured;
      expect(["0", "200", "303", "503"], kind).toEqual(expect.arrayContaining(Object.keys(statuses)));
      expect((statuses[200] ?? 0) + (statuses[303] ?? 0), kind).toBeGreaterThan(0);
    }
    await expectAnnouncedOnce();
    await expectStreamedOnce();
    if (isFullProof) {
      const [, warm = 0] = floors;
      expect(floors.at(-1), "memory at the end").toBeLessThan(
        warm * MAX_GROWTH.factor + MAX_GROWTH.megabytes,
      );
      // Clients leave, and what the server holds for itself remains.
      const isLevel = async () =>
        (await countDescriptors(pid)) <= (descriptors[0] as number) + MAX_GROWTH.descriptors;
      await eventually(isLevel, true);
    }
  });

  /** Every change is one outbound event, and each reaches the endpoint. */
  async function expectAnnouncedOnce(): Promise<void> {
    const unannounced = async () => {
      const started = (await storedEvents(test)).filter(({ type }) => type === "subscription.started");
      const [row] = await test.rows<{ changes: number }>(
        "select count(*)::int as changes from subscription where provider_subscription_id like 'soak-%'",
      );
      return (row?.changes ?? 0) - started.length;
    };
    await eventually(unannounced, 0, 180_000);
    await expectEventsReceived(test, received);
  }

  /** Every event reaches each reader of the stream once, in order. */
  async function expectStreamedOnce(): Promise<void> {
    await eventually(
      async () => {
        const positions = (await storedEvents(test)).map(({ position }) => position);
        return readers.ids().map((ids) => {
          const streamed = ids.map(positionOfEvent);
          const [first] = streamed;
          const expected = positions.slice(positions.indexOf(first as bigint));
          return streamed.length > 0 && isDeepStrictEqual(streamed, expected);
        });
      },
      Array(STREAM_READERS).fill(true),
      120_000,
    );
  }
});

/** Requests a second of the mixture that the server answers when it is never waited for. */
async function measureCapacity(send: Record<Kind, () => Promise<{ status: number }>>): Promise<number> {
  // What is loaded by its first use is no part of it.
  for (const kind of KINDS) await send[kind]();
  const until = performance.now() + CAPACITY_SECONDS * 1_000;
  let answers = 0;
  const mixture = KINDS.flatMap((kind) => Array.from({ length: SHARES[kind] }, () => kind));
  await Promise.all(
    Array.from({ length: SENDERS }, async (_, sender) => {
      for (let nth = sender; performance.now() < until; nth += 1) {
        await send[mixture[nth % mixture.length] as Kind]();
        answers += 1;
      }
    }),
  );
  return answers / CAPACITY_SECONDS;
}

async function countDescriptors(pid: number): Promise<number> {
  return (await readdir(`/proc/${pid}/fd`)).length;
}

/** The first p99 is of requests that no fault can have touched. */
function summary(measured: Measured, isBetweenFaults: (sentAtMs: number) => boolean): string {
  const { latenciesMs, sentAtMs, statuses } = measured;
  const between = latenciesMs.filter((_, nth) => isBetweenFaults(sentAtMs[nth] as number));
  const ms = (value: number) => `${value.toFixed(1)} ms`;
  const counts = Object.entries(statuses).map(([status, count]) => `${count} x ${status}`);
  return `p50 ${ms(median(between))} p99 ${ms(p99(between))}, with the faults p99 ${ms(p99(latenciesMs))} (${counts.join(" ")})`;
}
