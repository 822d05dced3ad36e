import { describe, expect, it } from "vitest";
import { passwordLimit } from "../../src/auth/password-limit.ts";

describe("requests that hash a password", () => {
  it("are refused once they have waited too long, and keep no place", async () => {
    const limit = passwordLimit(1);
    const { promise: held, resolve: release } = Promise.withResolvers<string>();
    const running = [1, 2, 3].map(() => limit.run(() => held));
    const late = [1, 2].map(() => limit.run(async () => expect.fail("has waited too long")));
    expect(await Promise.all(late)).toEqual([null, null]);

    release("served");
    expect(await Promise.all(running)).toEqual(["served", "served", "served"]);
    expect(await Promise.all([1, 2, 3].map(() => limit.run(() => held)))).toEqual(Array(3).fill("served"));
  });

  it("are served in their order, also after one that fails", async () => {
    const limit = passwordLimit();
    const { promise: held, reject } = Promise.withResolvers<string>();
    const running = [1, 2, 3].map(() => limit.run(() => held));
    const served: number[] = [];
    const waiting = [4, 5, 6, 7].map((n) => limit.run(async () => served.push(n)));
    reject(new Error("no database"));
    expect((await Promise.allSettled(running)).map(({ status }) => status)).toEqual(
      Array(3).fill("rejected"),
    );
    await Promise.all(waiting);
    expect(served).toEqual([4, 5, 6, 7]);
  });
});
