import { describe, expect, it } from "vitest";
import { createLimits } from "../../src/limits/create-limits.ts";
import { DEFAULT_POLICIES, SCOPES } from "../../src/limits/policies.ts";
import { silent } from "./silent.ts";

const START = 1_800_000_000_000;

describe("the limits in memory", () => {
  it("charge each scope and each person by themselves, as the policies say, at once", async () => {
    const limits = await createLimits({
      policies: DEFAULT_POLICIES,
      redisUrls: null,
      log: silent,
      now: () => START,
    });
    for (const scope of SCOPES) {
      const { limit } = DEFAULT_POLICIES[scope];
      for (const id of ["user_1", "user_1:admin", "2001:db8::1"]) {
        for (let n = 1; n <= limit; n += 1) {
          expect(limits.charge(scope, id)).toEqual({
            allowed: true,
            remaining: limit - n,
            resetAt: START + 60_000,
          });
        }
        expect(limits.charge(scope, id)).toMatchObject({ allowed: false, remaining: 0 });
      }
    }
    await limits.close();
  });

  it("charge what a request costs, and throw for one that could never be admitted", async () => {
    const limits = await createLimits({ policies: DEFAULT_POLICIES, redisUrls: null, log: silent });
    expect(limits.charge("billing", "user_1", 4)).toMatchObject({ allowed: true, remaining: 1 });
    expect(limits.charge("billing", "user_1", 2)).toMatchObject({ allowed: false, remaining: 1 });
    expect(() => limits.charge("billing", "user_1", 6)).toThrow(/^cost: /);
    expect(() => limits.charge("billing", "\ud800")).toThrow(/^key: /);
  });

  it("do not start with a policy that is none", async () => {
    const policies = { ...DEFAULT_POLICIES, api: { limit: 0, windowSeconds: 60 } };
    await expect(createLimits({ policies, redisUrls: null, log: silent })).rejects.toThrow(/^limit: /);
  });
});
