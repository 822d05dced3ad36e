import { describe, expect, it } from "vitest";
import { createLimits } from "../../src/limits/create-limits.ts";
import { limitKey } from "../../src/limits/limit-key.ts";
import { DEFAULT_POLICIES, SCOPES } from "../../src/limits/policies.ts";
import { createLog } from "../../src/observability/log.ts";

const START = 1_800_000_000_000;

describe("createLimits in memory", () => {
  it("counts each scope and each user separately", async () => {
    const limits = await createLimits({
      policies: DEFAULT_POLICIES,
      redisUrls: null,
      log: createLog("silent"),
      now: () => START,
    });
    for (const scope of SCOPES) {
      const { limit, windowSeconds } = DEFAULT_POLICIES[scope];
      for (const id of ["user_1", "user_1:admin", "2001:db8::1"]) {
        for (let n = 1; n <= limit; n += 1) {
          expect(limits.rateLimit(limitKey(scope, id), DEFAULT_POLICIES[scope])).toEqual({
            allowed: true,
            remaining: limit - n,
            resetAt: START + windowSeconds * 1000,
          });
        }
        expect(limits.rateLimit(limitKey(scope, id), DEFAULT_POLICIES[scope])).toMatchObject({
          allowed: false,
          remaining: 0,
        });
      }
    }
    await limits.close();
  });

  it("decides synchronously, and throws for an invalid cost or key", async () => {
    const { rateLimit } = await createLimits({
      policies: DEFAULT_POLICIES,
      redisUrls: null,
      log: createLog("silent"),
    });
    const { billing } = DEFAULT_POLICIES;
    expect(rateLimit("billing:user_1", { ...billing, cost: 4 })).toMatchObject({
      allowed: true,
      remaining: 1,
    });
    expect(rateLimit("billing:user_1", { ...billing, cost: 2 })).toMatchObject({
      allowed: false,
      remaining: 1,
    });
    expect(() => rateLimit("billing:user_1", { ...billing, cost: 6 })).toThrow(/^cost: /);
    expect(() => rateLimit("billing:\ud800", billing)).toThrow(/^key: /);
  });

  it("holds at most maxMemoryKeys keys, and refuses a new one while all are blocked", async () => {
    const { rateLimit } = await createLimits({
      policies: DEFAULT_POLICIES,
      redisUrls: null,
      log: createLog("silent"),
      maxMemoryKeys: 2,
      now: () => START,
    });
    const once = { limit: 1, windowSeconds: 60 };
    expect(rateLimit("api:user_1", once)).toMatchObject({ allowed: true });
    expect(rateLimit("api:user_2", once)).toMatchObject({ allowed: true });
    expect(rateLimit("api:user_3", once)).toMatchObject({ allowed: false, resetAt: START + 60_000 });
  });

  it("rejects an invalid policy at the start", async () => {
    const policies = { ...DEFAULT_POLICIES, api: { limit: 0, windowSeconds: 60 } };
    await expect(createLimits({ policies, redisUrls: null, log: createLog("silent") })).rejects.toThrow(
      /^limit: /,
    );
  });
});
