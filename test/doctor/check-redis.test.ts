import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { checkRedis } from "../../src/doctor/check-redis.ts";
import { eventually } from "../support/eventually.ts";
import { describeWith } from "../support/installed-programs.ts";
import { REDIS, startRedis, type TestRedis } from "../support/redis.ts";
import { startRedisCluster } from "../support/redis-cluster.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";
import { serverVariables } from "../support/variables.ts";

describeWith("the doctor's check of Redis", REDIS, ({ "redis-server": program }) => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await startRedis(program);
  });
  afterAll(() => redis.remove());

  const finding = (url = redis.url, variables = {}) =>
    checkRedis(readConfig({ ...serverVariables("postgres://unused/unused"), REDIS_URL: url, ...variables }));

  it("finds nothing wrong with one that can be written to and keeps its keys", async () => {
    expect(await finding()).toMatchObject({ state: "good" });
    await redis.ask("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
    // Without a limit nothing is evicted.
    expect(await finding()).toMatchObject({ state: "good" });
  });

  it.each([
    [
      "a wrong password",
      (url: string) => url.replace("://", "://nobody:wrong@"),
      "WRONGPASS",
      "the password",
    ],
    ["a database that it does not have", (url: string) => `${url}/4000`, "DB index is out of range", "Check"],
    [
      "TLS that it does not speak",
      (url: string) => url.replace("redis:", "rediss:"),
      "no response within 2 s",
      "accepts connections",
    ],
  ])("says why one cannot be used, and what to do: %s", async (_, change, reason, remedy) => {
    expect(await finding(change(redis.url))).toMatchObject({
      state: "broken",
      detail: expect.stringContaining(reason),
      remedy: expect.stringContaining(remedy),
    });
  });

  it("says that one is full when it takes no more counts", async () => {
    await redis.ask("CONFIG", "SET", "maxmemory", "1");
    expect(await finding()).toMatchObject({
      state: "broken",
      detail: expect.stringContaining("OOM"),
      remedy: expect.stringContaining("maxmemory"),
    });
    await redis.ask("CONFIG", "SET", "maxmemory", "0");
  });

  it("calls one broken that is too slow for the limiter, which refuses sign-in then", async () => {
    const proxy = await startTcpProxy(Number(new URL(redis.url).port));
    proxy.set({ delayMs: 100 });
    expect(await finding(`redis://127.0.0.1:${proxy.port}`)).toMatchObject({
      state: "broken",
      detail: expect.stringMatching(/^takes \d{3} ms for a decision from here, and servers wait for 75 ms/),
      remedy: expect.stringContaining("near the servers"),
    });
    await proxy.close();
  });

  it("says that one takes no more connections", async () => {
    await redis.ask("CONFIG", "SET", "maxclients", "1");
    const held = connect(Number(new URL(redis.url).port), "127.0.0.1");
    await once(held, "connect");
    try {
      expect(await finding()).toMatchObject({
        state: "broken",
        detail: expect.stringContaining("max number of clients reached"),
        remedy: expect.stringContaining("maxclients"),
      });
    } finally {
      held.destroy();
    }
    await eventually(() => redis.ask("CONFIG", "SET", "maxclients", "1000").catch(() => null), "OK");
  });

  it("warns of one that drops keys when its memory is full, which are counts", async () => {
    await redis.ask("CONFIG", "SET", "maxmemory", "100mb");
    for (const policy of ["allkeys-lru", "volatile-ttl"]) {
      await redis.ask("CONFIG", "SET", "maxmemory-policy", policy);
      expect(await finding()).toMatchObject({ state: "warning", detail: expect.stringContaining(policy) });
    }
    await redis.ask("CONFIG", "SET", "maxmemory-policy", "noeviction");
    expect(await finding()).toMatchObject({ state: "good" });
  });

  it("warns of one in which the assistant cannot keep its answers, where there is an assistant", async () => {
    const assistant = { AI_BASE_URL: "http://127.0.0.1:9/v1", AI_MODEL: "any" };
    expect(await finding(redis.url, assistant)).toMatchObject({ state: "good" });
    const source = readFileSync(new URL("../../src/chat/shared-answers.ts", import.meta.url), "utf8");
    const used = new Set([...source.matchAll(/run\("([A-Z]+)"/g)].map(([, command = ""]) => command));
    expect(used.size).toBe(7);
    // The scripts of the limiter need some of these too.
    for (const command of [...used].filter((name) => /^(?:XADD|XRANGE|EXISTS)$/.test(name))) {
      await redis.ask(
        "ACL",
        "SETUSER",
        "narrow",
        "reset",
        "on",
        ">secret",
        "~tollgate:*",
        "+@all",
        `-${command}`,
      );
      const url = redis.url.replace("://", "://narrow:secret@");
      expect(await finding(url)).toMatchObject({ state: "good" });
      expect(await finding(url, assistant)).toMatchObject({
        state: "warning",
        detail: expect.stringMatching(/keeps no answers of the assistant.*NOPERM/),
      });
    }
  });

  it("calls one broken that lets its user run no scripts, as the limiter does", async () => {
    await redis.ask("ACL", "SETUSER", "plain", "on", ">secret", "~*", "+@all", "-@scripting");
    expect(await finding(redis.url.replace("://", "://plain:secret@"))).toMatchObject({
      state: "broken",
      detail: expect.stringContaining("NOPERM"),
    });
  });

  it.each([
    ["the clock, which is in no category of reads", ["+@read", "+@write", "+@scripting", "+@connection"]],
    ["cached scripts", ["+@all", "-evalsha"]],
    ["a read of long logs", ["+@all", "-strlen"]],
    ["a write of short ones", ["+@all", "-append"]],
  ])("calls one broken that keeps the limiter from a command: %s", async (_, allowed) => {
    await redis.ask("ACL", "SETUSER", "few", "reset", "on", ">secret", "~*", ...allowed);
    expect(await finding(redis.url.replace("://", "://few:secret@"))).toMatchObject({
      state: "broken",
      remedy: expect.stringContaining("keys and commands"),
    });
  });

  it("finds nothing wrong with one that lets its user reach the limiter's keys alone", async () => {
    await redis.ask("ACL", "SETUSER", "own", "on", ">secret", "~tollgate:limit:*", "+@all", "-@dangerous");
    expect(await finding(redis.url.replace("://", "://own:secret@"))).toMatchObject({ state: "good" });
  });

  it("calls one broken that is a replica, which answers reads", async () => {
    await redis.ask("REPLICAOF", "127.0.0.1", "1");
    await redis.ask("CONFIG", "SET", "replica-serve-stale-data", "yes");
    expect(await finding()).toMatchObject({
      state: "broken",
      detail: expect.stringContaining("READONLY"),
      remedy: expect.stringContaining("primary"),
    });
  });
});

describeWith("the doctor's check of a Redis cluster", REDIS, ({ "redis-server": program }) => {
  let nodes: TestRedis[] = [];
  beforeAll(async () => {
    nodes = await startRedisCluster(program);
  });
  afterAll(() => Promise.all(nodes.map((node) => node.remove())));

  const finding = (changed = (url: string) => url) => {
    const REDIS_URL = changed(nodes[0]?.url ?? "");
    return checkRedis(readConfig({ ...serverVariables("postgres://unused/unused"), REDIS_URL }));
  };

  it("finds the other nodes for an account that may not ask for INFO", async () => {
    for (const node of nodes)
      await node.ask("ACL", "SETUSER", "safe", "on", ">secret", "~tollgate:*", "+@all", "-@dangerous");
    expect(await finding((url) => url.replace("://", "://safe:secret@"))).toMatchObject({ state: "good" });
  });

  it("asks every node, as each holds a part of the keys", async () => {
    expect(await finding()).toMatchObject({ state: "good" });
    for (const node of nodes) {
      await node.ask("CONFIG", "SET", "maxmemory", "100mb");
      await node.ask("CONFIG", "SET", "maxmemory-policy", "allkeys-lfu");
      expect(await finding()).toMatchObject({
        state: "warning",
        detail: expect.stringContaining("allkeys-lfu"),
      });
      await node.ask("CONFIG", "SET", "maxmemory-policy", "noeviction");
    }
  });

  it.each([1, 2])("names a node that does not respond: %i", async (at) => {
    const node = nodes[at] as TestRedis;
    await node.kill();
    // Eventually: a busy machine may take longer to find the others than the doctor waits.
    const isNamed = async () => {
      const { state, detail } = await finding();
      return state === "broken" && detail.includes(new URL(node.url).host);
    };
    await eventually(isNamed, true);
    await node.restart();
  });
});

it.each([
  ["a trial", "postgres://unused/unused", {}, "skipped"],
  ["production", "postgres://unused/unused", { NODE_ENV: "production" }, "warning"],
  [
    "production with the embedded database",
    "",
    { NODE_ENV: "production", EMBEDDED_IN_PRODUCTION: "on" },
    "skipped",
  ],
])("says what counts in memory mean for %s", async (_, database, variables, state) => {
  const config = readConfig({ ...serverVariables(database), ...variables });
  expect(await checkRedis(config)).toMatchObject({ state, detail: "not set: limits are counted in memory" });
});
