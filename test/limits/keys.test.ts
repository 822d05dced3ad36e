import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { limitKey, scopeOf } from "../../src/limits/limit-key.ts";
import { SCOPES } from "../../src/limits/policies.ts";
import { redisKey } from "../../src/limits/redis-script.ts";

describe("limit keys", () => {
  it("have no colon in their scope", () => {
    expect(SCOPES.filter((scope) => scope.includes(":"))).toEqual([]);
  });

  it("contain their scope for any id", () => {
    fc.assert(
      fc.property(fc.constantFrom(...SCOPES), fc.string(), (scope, id) => {
        const key = limitKey(scope, id);
        expect(scopeOf(key)).toBe(scope);
        expect(key.slice(scope.length + 1)).toBe(id);
      }),
    );
  });

  it("differ for different scopes, ids and windows, also in Redis", () => {
    const idOf = fc.string({ unit: fc.constantFrom(":", "a", "{", "}", "%", "7", "B", "25"), maxLength: 6 });
    const owner = fc.tuple(fc.constantFrom(...SCOPES), idOf, fc.constantFrom(1_000, 60_000));
    fc.assert(
      fc.property(owner, owner, ([scope, id, windowMs], [otherScope, otherId, otherWindowMs]) => {
        const same = scope === otherScope && id === otherId;
        expect(limitKey(scope, id) === limitKey(otherScope, otherId)).toBe(same);
        const inRedis = redisKey(limitKey(scope, id), windowMs);
        const otherInRedis = redisKey(limitKey(otherScope, otherId), otherWindowMs);
        expect(inRedis === otherInRedis).toBe(same && windowMs === otherWindowMs);
      }),
      { numRuns: 2_000 },
    );
  });

  it("contain no hash tag for Redis Cluster", () => {
    expect(redisKey("api:{same}user", 60_000)).not.toContain("{");
  });
});
