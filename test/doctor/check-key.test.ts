import { describe, expect, it } from "vitest";
import { checkKey } from "../../src/doctor/check-key.ts";
import type { PaymentApi } from "../../src/domain/providers/payment-api.ts";
import { type PaymentApiFailure, PaymentApiProblem } from "../../src/domain/providers/payment-api-problem.ts";
import { RefusedByProvider } from "../../src/providers/outbound/problems.ts";
import { POLAR_TRAITS } from "../../src/providers/polar/traits.ts";

/** Of a provider that answers like this, asked for a subscription that nobody has. */
function check(answer: () => Promise<never>, isSimulated = false) {
  const fetchSubscription = async (id: string) => {
    expect(id).toBe(POLAR_TRAITS.unknownSubscriptionId);
    return answer();
  };
  const api = { traits: POLAR_TRAITS, fetchSubscription } as unknown as PaymentApi;
  return checkKey("provider-c", { isSimulated, api });
}

const refusal =
  (failure: PaymentApiFailure, refusedWith: number | null = null): (() => Promise<never>) =>
  async () => {
    const remedy = "Do this.";
    const facts = { code: null, refusedWith, remedy, retryAfterMs: null };
    throw new RefusedByProvider(failure, `It says no. ${remedy}`, facts);
  };

describe("a key", () => {
  it.each<[PaymentApiFailure, number | null]>([
    ["missing", 404],
    ["missing", 422],
    ["rejected", 400],
    ["rejected", 422],
  ])("is accepted where only the id is refused: %s, %s", async (failure, refusedWith) => {
    expect(await check(refusal(failure, refusedWith))).toEqual({
      check: "provider-c key",
      state: "good",
      detail: "the provider accepts it",
      remedy: null,
    });
  });

  it.each<[PaymentApiFailure, number | null]>([
    ["unauthorized", 401],
    ["unreachable", null],
    ["rejected", null],
    ["rejected", 403],
    ["rejected", 409],
    ["unreadable", 422],
  ])("is not where something else is: %s, %s", async (failure, refusedWith) => {
    expect(await check(refusal(failure, refusedWith))).toEqual({
      check: "provider-c key",
      state: "broken",
      detail: `${failure}: It says no.`,
      remedy: "Do this.",
    });
  });

  it("of the simulator needs the server that runs it", async () => {
    expect(await check(refusal("missing"), true)).toMatchObject({ detail: "the simulator accepts it" });
    expect(await check(refusal("unreachable"), true)).toMatchObject({
      state: "broken",
      remedy: expect.stringContaining("Start the server"),
    });
  });

  it("has a remedy too where the provider could not be asked", async () => {
    const problem = async () => {
      throw new PaymentApiProblem("unreachable", "no response");
    };
    expect(await check(problem)).toMatchObject({
      state: "broken",
      detail: "unreachable: no response",
      remedy: "Check the slot's API key and API URL.",
    });
    const defect = async () => {
      throw new TypeError("x is not a function");
    };
    expect(await check(defect)).toMatchObject({
      state: "broken",
      detail: "x is not a function",
      remedy: expect.stringContaining("report"),
    });
  });
});
