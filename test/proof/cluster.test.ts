import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { numberedEvent } from "../fixtures/numbered-event.ts";
import { createTemplate } from "../support/database.ts";
import { deliverWebhook, sendRequest } from "../support/http.ts";
import { describeWith } from "../support/installed-programs.ts";
import { expectEachAppliedOnce } from "../support/ledger.ts";
import { createAdmin, createUser } from "../support/people.ts";
import { CLUSTER_PROGRAMS, type Cluster, startCluster } from "./cluster.ts";
import { expectHistoryKept, historyFigures, startEventLoad } from "./event-load.ts";
import { isFullProof, report } from "./proof.ts";
import { admitted, SHARED_LIMIT, untilCountsAreShared } from "./shared-limit.ts";

const PER_SECOND = isFullProof ? 300 : 50;
const ROUNDS = isFullProof ? 5 : 1;
/** Suites that run on the cluster's PostgreSQL, through PgBouncer, with commits that wait for the standby. */
const SUITES = ["test/intake", "test/limits", "test/system/surfaces.test.ts", "test/api/rest.test.ts"];

describeWith("three servers behind a load balancer", CLUSTER_PROGRAMS, (programs) => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster(programs, { ...SHARED_LIMIT, LOG_LEVEL_ONCE_LISTENING: "fatal" });
  }, 300_000);
  afterAll(() => cluster?.remove());

  it("apply an event once that reaches all of them at the same time", async () => {
    const count = 50;
    const answers = await Promise.all(
      Array.from({ length: 3 * count }, (_, n) =>
        deliverWebhook(cluster.url, "provider-a", numberedEvent("copies", n % count)),
      ),
    );
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    expect(answers.filter(({ body }) => body.duplicate)).toHaveLength(2 * count);
    await expectEachAppliedOnce(cluster.postgres.primary(), "copies", count);
  });

  it("count the requests of a client together", async () => {
    await untilCountsAreShared(cluster.servers.map(({ url }) => url));
    expect(await admitted([cluster.url])).toBeGreaterThan(0);
  });

  it("answer a user alike on every surface, whichever server gets the request", async () => {
    for (const { url } of cluster.servers) {
      const person = await createUser(cluster.postgres.primary());
      const rest = await sendRequest(url, "GET", "/api/users/me", person);
      expect(rest.body).toMatchObject({ id: person.id, email: person.email });
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
    const statuses: (number | string)[] = [];
    let isOver = false;
    const reading = (async () => {
      while (!isOver) {
        const answer = await sendRequest(cluster.url, "GET", "/api/version").then(
          ({ status }) => status,
          (error: Error) => error.message,
        );
        statuses.push(answer);
        await sleep(10);
      }
    })();
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const server of cluster.servers.keys()) {
        await load.more(PER_SECOND);
        await cluster.restart(server);
      }
    }
    await load.more(PER_SECOND);
    isOver = true;
    await reading;
    const history = await load.stop();
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
    await expectHistoryKept(cluster.postgres.primary(), "rolling", history);
    // A busy machine may be too slow for an event; its provider sends it again. A request that got no answer is none of these.
    expect(history.answers.flat().filter((answer) => answer !== 200 && answer !== 503)).toEqual([]);
    const restarts = ROUNDS * cluster.servers.length;
    await report("cluster", { restarts, ...historyFigures(history), requests: statuses.length, failed: 0 });
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

  it.runIf(isFullProof)(`pass ${SUITES.join(", ")}`, { timeout: 1_800_000 }, async () => {
    await createTemplate(cluster.postgres.primary().url);
    const suites = spawn("vitest", ["run", ...SUITES], {
      env: {
        ...process.env,
        PROOF: "",
        TEST_POSTGRES_URL: cluster.pooledUrl,
        TEST_DATABASE_PREPARED: "off",
      },
      stdio: "inherit",
    });
    const [code] = await once(suites, "exit");
    expect(code).toBe(0);
    await report("cluster", { suites: SUITES.join(" "), failed: 0 });
  });
});
