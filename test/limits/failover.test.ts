import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createRateLimit } from "../../src/limits/create-rate-limit.ts";
import { hashSlot } from "../../src/limits/hash-slot.ts";
import { redisKey } from "../../src/limits/redis-script.ts";
import { cleanedUp } from "../support/cleanup.ts";
import { eventually } from "../support/eventually.ts";
import { describeWith } from "../support/installed-programs.ts";
import { REDIS, startRedis, type TestRedis } from "../support/redis.ts";
import { SLOTS, startRedisCluster } from "../support/redis-cluster.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";

const POLICY = { limit: 2, windowSeconds: 60 };

describeWith("the limiter when Redis fails over", REDIS, ({ "redis-server": program }) => {
  const opened = async (...redisUrls: string[]) => {
    const observed = { up: [] as boolean[], without: [] as string[], warned: [] as unknown[] };
    const { rateLimit, close } = await createRateLimit({
      redisUrls,
      // Long: a busy machine must not look like a dead node.
      answerWithinMs: 3_000,
      log: { info: () => {}, warn: (fields) => observed.warned.push(fields) },
      metrics: {
        sharedStore: (up) => observed.up.push(up),
        decidedWithoutStore: (scope, how) => observed.without.push(`${scope} ${how}`),
        memoryFull: () => {},
      },
    });
    const isShared = async (key: string) => {
      try {
        await rateLimit(key, POLICY);
        return true;
      } catch {
        return false;
      }
    };
    return { rateLimit, isShared, observed, close: cleanedUp(close) };
  };

  it.each([false, true])("says in the log why it is not connected; in a cluster: %s", async (cluster) => {
    const redis = await startRedis(program, { cluster });
    onTestFinished(redis.remove);
    const { isShared, observed, close } = await opened(redis.url);
    await eventually(() => isShared(`billing:${randomUUID()}`), true);
    await redis.kill();
    const reasons = async () => {
      await isShared(`billing:${randomUUID()}`);
      return observed.warned.map((fields) => String((fields as { err: Error }).err.cause));
    };
    await eventually(async () => (await reasons()).some((reason) => /ECONN|closed/.test(reason)), true);
    await close();
  });

  describe("behind an endpoint whose primary becomes a replica", () => {
    let former: TestRedis;
    let promoted: TestRedis;
    /** Like a load balancer: a new target applies to new connections only. */
    let endpoint: TcpProxy;
    beforeAll(async () => {
      former = await startRedis(program);
      promoted = await startRedis(program);
      endpoint = await startTcpProxy(portOf(former));
    });
    afterAll(async () => {
      await endpoint.close();
      await former.remove();
      await promoted.remove();
    });

    it("reconnects to the new primary although the old one still responds, each time", async () => {
      const { isShared, observed, close } = await opened(`redis://127.0.0.1:${endpoint.port}`);
      const key = () => `billing:${randomUUID()}`;
      await eventually(() => isShared(key()), true);
      for (const [primary, replica] of [[promoted, former] as const, [former, promoted] as const]) {
        await primary.ask("REPLICAOF", "NO", "ONE");
        const askedBefore = await primary.calls("evalsha");
        await replica.ask("REPLICAOF", "127.0.0.1", String(portOf(primary)));
        endpoint.leadTo(portOf(primary));
        await eventually(() => isShared(key()), true);
        expect(await primary.calls("evalsha")).toBeGreaterThan(askedBefore);
        await eventually(async () => observed.up.at(-1), true);
      }
      await close();
    });
  });

  describe("in a cluster of three nodes", () => {
    let nodes: TestRedis[];
    beforeAll(async () => {
      nodes = await startRedisCluster(program);
    });
    afterAll(async () => {
      for (const node of nodes) await node.remove();
    });

    const keyOn = (node: number, scope: string) => {
      const [first, last] = SLOTS[node] as [number, number];
      for (;;) {
        const key = `${scope}:${randomUUID()}`;
        const slot = hashSlot(redisKey(key, 60_000));
        if (slot >= first && slot <= last) return key;
      }
    };

    it.each([
      ["is killed", (node: TestRedis) => node.kill(), (node: TestRedis) => node.restart()],
      [
        "stops answering",
        (node: TestRedis) => node.signal("SIGSTOP"),
        (node: TestRedis) => node.signal("SIGCONT"),
      ],
    ])(
      "keeps shared counts for all keys but those of a node that %s",
      async (_, end, restore) => {
        const { rateLimit, isShared, observed, close } = await opened((nodes[0] as TestRedis).url);
        for (const node of [0, 1, 2]) await eventually(() => isShared(keyOn(node, "billing")), true);
        await end(nodes[1] as TestRedis);
        // All wait until the breaker of that node opens, at the latest after five.
        await Promise.all(Array.from({ length: 6 }, () => isShared(keyOn(1, "billing"))));
        observed.without.length = 0;
        for (let n = 0; n < 50; n += 1) {
          // Eventually: a busy machine may stall for longer than an answer is waited for.
          await eventually(() => isShared(keyOn(0, "billing")), true);
          await eventually(() => isShared(keyOn(2, "billing")), true);
        }
        expect(observed.without).not.toContain("billing fallback");
        // Counted in this process, exactly.
        const key = keyOn(1, "api");
        const decisions = [];
        for (let n = 0; n < 20; n += 1) decisions.push(await rateLimit(key, POLICY));
        expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(POLICY.limit);
        expect(observed.without).not.toContain("billing unavailable");
        expect(await isShared(keyOn(1, "billing"))).toBe(false);

        await restore(nodes[1] as TestRedis);
        await eventually(() => isShared(keyOn(1, "billing")), true);
        await eventually(async () => observed.up.at(-1), true);
        await close();
      },
      180_000,
    );

    it("asks a silent node for a few decisions only; all others are made without waiting", async () => {
      const [, silent] = nodes as [TestRedis, TestRedis, TestRedis];
      const { rateLimit, isShared, close } = await opened((nodes[0] as TestRedis).url);
      for (const node of [0, 1, 2]) await eventually(() => isShared(keyOn(node, "billing")), true);
      const askedBefore = await silent.calls("evalsha");
      onTestFinished(() => silent.signal("SIGCONT"));
      silent.signal("SIGSTOP");
      await Promise.all(Array.from({ length: 6 }, () => rateLimit(keyOn(1, "api"), POLICY)));
      // The silent node's breaker is open; if the machine has stalled, the others' are closed again.
      const isSettled = async () => {
        const shared = await Promise.all([0, 2].map((node) => isShared(keyOn(node, "billing"))));
        const decision = rateLimit(keyOn(1, "api"), POLICY);
        const isMadeAtOnce = !(decision instanceof Promise);
        await decision;
        return isMadeAtOnce && shared.every(Boolean);
      };
      await eventually(isSettled, true);

      const waiting: Promise<unknown>[][] = [[], [], []];
      for (let n = 0; n < 1_000; n += 1) {
        for (const node of [0, 1, 2]) {
          const decision = rateLimit(keyOn(node, "api"), POLICY);
          if (decision instanceof Promise) waiting[node]?.push(decision);
        }
      }
      const [first, ofSilent, third] = waiting.map(({ length }) => length);
      expect([first, third]).toEqual([1_000, 1_000]);
      // It may be the probe that asks whether the node answers again.
      expect(ofSilent).toBeLessThanOrEqual(1);
      await Promise.all(waiting.flat());

      silent.signal("SIGCONT");
      await eventually(() => isShared(keyOn(1, "billing")), true);
      // Everything sent meanwhile has been read by now: calls until the breaker opened, and probes.
      expect((await silent.calls("evalsha")) - askedBefore).toBeLessThan(50);
      await close();
    }, 180_000);

    it("shares counts again once a cluster that is down has all its slots back", async () => {
      const [, , lost] = nodes as [TestRedis, TestRedis, TestRedis];
      const { rateLimit, isShared, observed, close } = await opened((nodes[0] as TestRedis).url);
      for (const node of [0, 1, 2]) await eventually(() => isShared(keyOn(node, "billing")), true);
      for (const node of nodes) await node.ask("CONFIG", "SET", "cluster-require-full-coverage", "yes");
      await lost.kill();
      for (const node of nodes.slice(0, 2)) {
        const refusal = () => node.ask("GET", "any").catch((error: Error) => error.message.split(" ")[0]);
        await eventually(refusal, "CLUSTERDOWN");
      }
      for (const node of [0, 1, 2]) await eventually(() => isShared(keyOn(node, "billing")), false);
      const key = keyOn(0, "api");
      const decisions = [];
      for (let n = 0; n < 20; n += 1) decisions.push(await rateLimit(key, POLICY));
      expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(POLICY.limit);

      await lost.restart();
      for (const node of [0, 1, 2]) await eventually(() => isShared(keyOn(node, "billing")), true);
      await eventually(async () => observed.up.at(-1), true);
      for (const node of nodes) await node.ask("CONFIG", "SET", "cluster-require-full-coverage", "no");
      await close();
    }, 180_000);
  });
});

function portOf({ url }: TestRedis): number {
  return Number(new URL(url).port);
}
