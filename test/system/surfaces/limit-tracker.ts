import type { Scope } from "../../../src/limits/policies.ts";
import type { CallerName, CallOutcome } from "./surface.ts";
import type { TestData } from "./test-data.ts";

/** Large enough for every test that does not exceed them on purpose; each window has a different length. */
export const LIMITS = {
  api: 14,
  settings: 13,
  billing: 12,
  admin: 15,
  "ai-chat": 11,
  rpc: 20,
  graphql: 21,
} as const satisfies Partial<Record<Scope, number>>;

export type LimitedScope = keyof typeof LIMITS;

export const LIMIT_VARIABLES = Object.fromEntries(
  Object.entries(LIMITS).map(([scope, limit]) => [
    `RATE_LIMIT_${scope.replaceAll("-", "_").toUpperCase()}`,
    // An hour: no call is given back while the test runs.
    `${limit}/3600`,
  ]),
);

/** The expected charges of each caller, whichever surface the calls use. */
export class LimitTracker {
  readonly #used = new Map<string, number>();

  /** Records a call. @returns what must remain afterwards */
  charge(testData: TestData, caller: CallerName, scopes: readonly LimitedScope[]): CallOutcome["remaining"] {
    const remaining: CallOutcome["remaining"] = {};
    for (const scope of scopes) {
      const key = `${scope}:${testData.counted[caller]}`;
      const used = Math.min((this.#used.get(key) ?? 0) + 1, LIMITS[scope]);
      this.#used.set(key, used);
      remaining[scope] = LIMITS[scope] - used;
    }
    return remaining;
  }
}
