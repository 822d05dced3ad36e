import { beforeEach, describe, expect, it } from "vitest";
import { HeldRefusals } from "../../src/limits/held-refusals.ts";

const KEY = "api:user_1";
const WINDOW_MS = 60_000;

let now: number;
let refusals: HeldRefusals;
beforeEach(() => {
  now = 1_000;
  refusals = new HeldRefusals(() => now);
});

/** A refusal that was asked for at 1,000 ms and answered at 1,010 ms. */
function remember(
  limit: number,
  counted: number,
  leaveInMs: readonly number[],
  { key = KEY, windowMs = WINDOW_MS } = {},
): void {
  const leaveInUs = leaveInMs.map((ms) => ms * 1000);
  refusals.remember(key, { windowMs, limit, counted, leaveInUs }, 1_000, 1_010);
}

describe("HeldRefusals", () => {
  it("decides nothing about a key, limit or window without a refusal", () => {
    expect(refusals.find(KEY, 3, WINDOW_MS, 1)).toBeUndefined();
    remember(3, 3, [500]);
    expect(refusals.find("api:user_2", 3, WINDOW_MS, 1)).toBeUndefined();
    expect(refusals.find(KEY, 4, WINDOW_MS, 1)).toBeUndefined();
    expect(refusals.find(KEY, 3, 1_000, 1)).toBeUndefined();
  });

  it("refuses until the request may have left, counted from the call, and names the time counted from the reply", () => {
    remember(3, 3, [500.2]);
    const refused = { allowed: false, remaining: 0, resetAt: 1_511 };
    expect(refusals.find(KEY, 3, WINDOW_MS, 1)).toEqual(refused);
    now = 1_500;
    expect(refusals.find(KEY, 3, WINDOW_MS, 1)).toEqual(refused);
    now = 1_500.2;
    expect(refusals.find(KEY, 3, WINDOW_MS, 1)).toBeUndefined();
  });

  it("decides for a cost only when it knows when enough requests leave", () => {
    // A cost of 3, refused for two of the requests.
    remember(4, 3, [500, 700]);
    expect(refusals.find(KEY, 4, WINDOW_MS, 1)).toBeUndefined();
    expect(refusals.find(KEY, 4, WINDOW_MS, 2)).toEqual({ allowed: false, remaining: 1, resetAt: 1_510 });
    expect(refusals.find(KEY, 4, WINDOW_MS, 3)).toEqual({ allowed: false, remaining: 1, resetAt: 1_710 });
    expect(refusals.find(KEY, 4, WINDOW_MS, 4)).toBeUndefined();
    now = 1_500;
    expect(refusals.find(KEY, 4, WINDOW_MS, 2)).toBeUndefined();
    expect(refusals.find(KEY, 4, WINDOW_MS, 3)).toEqual({ allowed: false, remaining: 2, resetAt: 1_710 });
    now = 1_700;
    expect(refusals.find(KEY, 4, WINDOW_MS, 3)).toBeUndefined();
  });

  it("shows no negative remainder when more are counted than a lower limit admits", () => {
    remember(2, 5, [100, 200, 300, 400]);
    expect(refusals.find(KEY, 2, WINDOW_MS, 1)).toEqual({ allowed: false, remaining: 0, resetAt: 1_410 });
  });

  it("holds one refusal for each limit and window of a key, the latest", () => {
    remember(3, 3, [500]);
    remember(2, 3, [500, 600]);
    remember(3, 3, [800], { windowMs: 1_000 });
    remember(3, 3, [900]);
    const resetAt = (limit: number, windowMs: number) => refusals.find(KEY, limit, windowMs, 1)?.resetAt;
    expect([resetAt(3, WINDOW_MS), resetAt(2, WINDOW_MS), resetAt(3, 1_000)]).toEqual([1_910, 1_610, 1_810]);
    now = 1_900;
    expect(resetAt(3, WINDOW_MS)).toBeUndefined();
  });

  it("takes no more time and memory for a key that is refused again and again", () => {
    for (let n = 0; n < 20_000; n += 1) remember(2 + (n % 2), 3, [500, 600]);
    expect(refusals.find(KEY, 2, WINDOW_MS, 1)).toBeDefined();
    expect(refusals.find(KEY, 3, WINDOW_MS, 2)).toBeDefined();
  });

  it("forgets all refusals of a key for which something was admitted", () => {
    remember(3, 3, [500]);
    remember(2, 3, [500, 600]);
    remember(3, 3, [500], { key: "api:user_2" });
    refusals.forget(KEY);
    expect(refusals.find(KEY, 3, WINDOW_MS, 1)).toBeUndefined();
    expect(refusals.find(KEY, 2, WINDOW_MS, 1)).toBeUndefined();
    expect(refusals.find("api:user_2", 3, WINDOW_MS, 1)).toBeDefined();
  });

  it("holds those of the last 5,000 keys at least, and forgets a key wherever it is held", () => {
    const others = (name: string, keys: number) => {
      for (let n = 0; n < keys; n += 1) remember(3, 3, [500], { key: `api:${name} ${n}` });
    };
    remember(3, 3, [500]);
    others("first", 5_000);
    expect(refusals.find(KEY, 3, WINDOW_MS, 1)).toBeDefined();
    remember(2, 3, [500, 600]);
    expect(refusals.find(KEY, 3, WINDOW_MS, 1)).toBeDefined();
    expect(refusals.find(KEY, 2, WINDOW_MS, 1)).toBeDefined();
    refusals.forget(KEY);
    expect(refusals.find(KEY, 3, WINDOW_MS, 1)).toBeUndefined();
    remember(3, 3, [500]);
    others("second", 10_000);
    expect(refusals.find(KEY, 3, WINDOW_MS, 1)).toBeUndefined();
    expect(refusals.find("api:second 9999", 3, WINDOW_MS, 1)).toBeDefined();
  });
});
