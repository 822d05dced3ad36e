import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { numberedEvent } from "../fixtures/numbered-event.ts";
import { createTemplate } from "../support/database.ts";
import { deliverUntilAnswered, sendRequest } from "../support/http.ts";
import { describeWith } from "../support/installed-programs.ts";
import { expectEachAppliedOnce } from "../support/ledger.ts";
import { createAdmin, createUser } from "../support/people.ts";
import { CLUSTER_PROGRAMS, type Cluster, startCluster } from "./cluster.ts";
import { expectHistoryKept, historyFigures, startEventLoad } from "./event-load.ts";
import { isFullProof, report, startTimeline } from "./proof.ts";
import { admitted, SHARED_LIMIT, untilCountsAreShared } from "./shared-limit.ts";

// As much as two cores can serve while a server starts.
const PER_SECOND = isFullProof ? 100 : 50;
const ROUNDS = isFullProof ? 5 : 1;
/** Suites that run on three servers behind HAProxy, with the cluster's PostgreSQL, PgBouncer and Redis. */
const SUITES = ["test/intake", "test/limits", "test/system/surfaces", "test/api/rest.test.ts"];
/**
 * It registers a provider in the server's own process, and counts the bytes that the server takes of an
 * endless body.
 */
const ONE_SERVER_SUITE = "test/intake/contract.test.ts";

describeWith("three servers behind a load balancer", CLUSTER_PROGRAMS, (programs) => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster(programs, {
      ...SHARED_LIMIT,
      RATE_LIMIT_SETTINGS: "100000/60",
      LOG_LEVEL_ONCE_LISTENING: "fatal",
    });
  }, 300_000);
  afterAll(() => cluster?.remove());

  it("apply an event once that reaches all of them at the same time", async () => {
    const count = 50;
    const answers = await Promise.all(
      Array.from({ length: 3 * count }, (_, n) =>
        deliverUntilAnswered(cluster.url, "provider-a", numberedEvent("copies", n % count)),
      ),
    );
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    expect(answers.filter(({ body }) => body.duplicate).length).toBeGreaterThanOrEqual(2 * count);
    await expectEachAppliedOnce(cluster.postgres.primary(), "copies", count);
  });

  it("count the requests of a client together", async () => {
    await untilCountsAreShared(cluster.servers.map(({ url }) => url));
    expect(await admitted([cluster.url])).toBeGreaterThan(0);
  });

  it("answer a user alike on every surface, whichever server gets the request", async () => {
    for (const { url } of cluster.servers) {
      const person = await createUser(cluster.postgres.primary());
      const restResponse = await sendRequest(url, "GET", "/api/users/me", person);
      expect(restResponse.body).toMatchObject({ id: person.id, email: person.email });
      const rpc = await sendRequest(url, "GET", "/api/trpc/user.me", person);
      expect(rpc.body.result.data.json).toMatchObject({ id: person.id });
      const graphql = await sendRequest(url, "POST", "/api/graphql", {
        ...person,
        body: { query: "{ me { id } }" },
      });
      expect(graphql.body).toMatchObject({ data: { me: { id: person.id } } });
    }
    const person = await createUser(cluster.postgres.primary());
    const name = "Somebody Renamed";
    const renamed = await sendRequest(cluster.url, "PATCH", "/api/users/me", { ...person, body: { name } });
    expect(renamed.status).toBe(200);
    const admin = await createAdmin(cluster.postgres.primary());
    const log = await sendRequest(cluster.url, "GET", "/api/webhook-deliveries", admin);
    expect(log.body).toMatchObject({ deliveries: expect.any(Array) });
  });

  it(`lose no request and no event in ${ROUNDS} rolling restarts under load`, {
    timeout: 600_000 * ROUNDS,
  }, async () => {
    const load = startEventLoad([cluster.url], "rolling", PER_SECOND);
    const people = startPeople(cluster);
    const { note, lines } = startTimeline();
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const server of cluster.servers.keys()) {
        await load.more(PER_SECOND);
        note(`server ${server + 1} ended by SIGTERM`);
        await cluster.restart(server);
        note(`server ${server + 1} back`);
      }
    }
    await load.more(PER_SECOND);
    const answers = await people.stop();
    const history = await load.stop();
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    await expectHistoryKept(cluster.postgres.primary(), "rolling", history);
    // A busy machine may be too slow for an event; its provider sends it again. A request that got no answer
    // is none of these.
    expect(history.answers.flat().filter((answer) => answer !== 200 && answer !== 503)).toEqual([]);
    const restarts = ROUNDS * cluster.servers.length;
    await report(
      "cluster",
      { restarts, ...historyFigures(history), requests: answers.length, failed: 0 },
      lines,
    );
  });

  it("keep every acknowledged event when the primary dies behind PgBouncer", {
    timeout: 600_000,
  }, async () => {
    const load = startEventLoad([cluster.url], "behind", PER_SECOND);
    await load.more(PER_SECOND);
    const killedAt = performance.now();
    await cluster.postgres.primary().signal("SIGKILL");
    await cluster.postgres.promote();
    cluster.toPrimary.leadTo(cluster.postgres.primary().port);
    const writableMs = await load.untilAcknowledgedMs(killedAt);
    await cluster.postgres.rejoin();
    await load.more(PER_SECOND);
    const history = await load.stop();
    await expectHistoryKept(cluster.postgres.primary(), "behind", history);
    await report("cluster", {
      "kills of the primary": 1,
      ...historyFigures(history),
      "ms until writable": writableMs,
    });
  });

  it("run suites that exist", () => {
    expect([...SUITES, ONE_SERVER_SUITE].filter((path) => !existsSync(path))).toEqual([]);
  });

  it.runIf(isFullProof)(`pass ${SUITES.join(", ")}`, { timeout: 1_800_000 }, async () => {
    await createTemplate(cluster.postgres.primary().url);
    const balanced = ["run", ...SUITES, "--exclude", ONE_SERVER_SUITE];
    expect(await runSuites(cluster, balanced, cluster.servers.length)).toBe(0);
    expect(await runSuites(cluster, ["run", ONE_SERVER_SUITE], 1)).toBe(0);
    await report("cluster", { suites: SUITES.join(" "), failed: 0 });
  });
});

/** @returns the exit status of vitest */
async function runSuites(cluster: Cluster, vitest: string[], servers: number): Promise<number | null> {
  const suites = spawn("vitest", vitest, {
    env: {
      ...process.env,
      PROOF: "",
      TEST_POSTGRES_URL: cluster.pooledUrl,
      TEST_DATABASE_PREPARED: "off",
      TEST_REDIS_URL: cluster.redis.map(({ url }) => url).join(","),
      TEST_SERVERS: String(servers),
    },
    stdio: "inherit",
  });
  const [code] = await once(suites, "exit");
  return code;
}

/** People who read and write, one request after the other, until they are stopped. */
function startPeople(cluster: Cluster) {
  type Answer = { request: string; status: number | string };
  const answers: Answer[] = [];
  let isOver = false;
  const keepSending = async (request: string, send: (nth: number) => Promise<{ status: number }>) => {
    for (let nth = 0; !isOver; nth += 1) {
      const status = await send(nth).then(
        (answer) => answer.status,
        (error: Error) => error.message,
      );
      answers.push({ request, status });
      await sleep(10);
    }
  };
  const writing = createUser(cluster.postgres.primary()).then((person) =>
    keepSending("PATCH", (nth) =>
      sendRequest(cluster.url, "PATCH", "/api/users/me", { ...person, body: { name: `Name ${nth}` } }),
    ),
  );
  const reading = keepSending("GET", () => sendRequest(cluster.url, "GET", "/api/version"));
  return {
    stop: async (): Promise<Answer[]> => {
      isOver = true;
      await Promise.all([writing, reading]);
      return answers;
    },
  };
}
