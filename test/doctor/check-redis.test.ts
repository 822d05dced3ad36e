import { afterAll, beforeAll, expect, it } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { checkRedis } from "../../src/doctor/check-redis.ts";
import { describeWith } from "../support/installed-programs.ts";
import { REDIS, startRedis, type TestRedis } from "../support/redis.ts";
import { serverVariables } from "../support/variables.ts";

describeWith("the doctor's check of Redis", REDIS, ({ "redis-server": program }) => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await startRedis(program);
  });
  afterAll(() => redis.remove());

  const finding = () =>
    checkRedis(readConfig({ ...serverVariables("postgres://unused/unused"), REDIS_URL: redis.url }));

  it("finds nothing wrong with one that can be written to and keeps its keys", async () => {
    expect(await finding()).toMatchObject({ state: "good" });
    await redis.ask("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
    // Without a limit nothing is evicted.
    expect(await finding()).toMatchObject({ state: "good" });
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

  it("calls one broken that is a replica, which answers reads", async () => {
    await redis.ask("REPLICAOF", "127.0.0.1", "1");
    await redis.ask("CONFIG", "SET", "replica-serve-stale-data", "yes");
    expect(await finding()).toMatchObject({ state: "broken", detail: expect.stringContaining("READONLY") });
  });
});
