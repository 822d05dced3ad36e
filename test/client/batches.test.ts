import { describe, expect, it } from "vitest";
import { createTollgate } from "../../clients/typescript/src/tollgate.ts";
import { freshServer } from "../support/fresh-server.ts";
import { createKey, createUser } from "../support/people.ts";
import { createServiceKey } from "../support/service-keys.ts";

const { test, server } = freshServer({ users: 1, variables: { RATE_LIMIT_RPC: "4/3600" } });

/** `batches` has how many calls each request held. */
function clientOf(key: string) {
  const batches: number[] = [];
  const counted: typeof fetch = async (input, init) => {
    batches.push(new URL(String(input)).pathname.split(",").length);
    return await fetch(input, init);
  };
  return { batches, rpc: createTollgate({ url: server.url, key, fetch: counted, maxRetries: 0 }).rpc };
}

/** What became of calls, each outcome once: whichever batch arrives first is admitted. */
async function outcomesOf(calls: Promise<unknown>[]): Promise<Set<string>> {
  const results = await Promise.allSettled(calls);
  return new Set(
    results.map((result) => (result.status === "fulfilled" ? "admitted" : result.reason.reason)),
  );
}

describe("RPC calls made together that exceed a rate limit", () => {
  it("are divided, and those that the limit admits succeed", async () => {
    const { key } = await createKey(server.url, await createUser(test));
    const { batches, rpc } = clientOf(key);
    const calls = Array.from({ length: 10 }, () => rpc.user.me.query());
    expect(await outcomesOf(calls)).toEqual(new Set(["admitted", "rate_limited"]));
    expect(batches).toEqual([10, 4, 4, 2]);
  });

  it("are divided, too, where they write", async () => {
    const { key } = await createKey(server.url, await createUser(test));
    const { batches, rpc } = clientOf(key);
    const calls = Array.from({ length: 5 }, (_, n) => rpc.user.updateProfile.mutate({ name: `Ana ${n}` }));
    expect(await outcomesOf(calls)).toEqual(new Set(["admitted", "rate_limited"]));
    expect(batches).toEqual([5, 4, 1]);
  });

  it("are divided once more where the limit of a service key is lower still, and stay so", async () => {
    const { key } = await createServiceKey(test, { limit: 3, windowSeconds: 3_600 });
    const { batches, rpc } = clientOf(key);
    const call = () => rpc.user.me.query({ user: "user_0" });
    expect(await outcomesOf([call(), call(), call(), call()])).toEqual(new Set(["admitted", "rate_limited"]));
    expect(await outcomesOf([call(), call(), call(), call()])).not.toContain("batch_too_large");
    expect(batches).toEqual([4, 3, 1, 3, 1]);
  });

  it("are not sent again once their caller has aborted them", async () => {
    const { key } = await createKey(server.url, await createUser(test));
    const controller = new AbortController();
    const bodies: string[] = [];
    const aborting: typeof fetch = async (input, init) => {
      bodies.push(String(init?.body));
      const response = await fetch(input, init);
      controller.abort();
      return response;
    };
    const { rpc } = createTollgate({ url: server.url, key, fetch: aborting, maxRetries: 0 });
    const calls = Array.from({ length: 5 }, (_, n) =>
      rpc.user.updateProfile.mutate({ name: `Ana ${n}` }, n === 1 ? { signal: controller.signal } : {}),
    );
    const [, aborted] = await Promise.allSettled(calls);
    expect(aborted).toMatchObject({ status: "rejected", reason: { name: "AbortError" } });
    expect(bodies[0]).toContain("Ana 1");
    expect(bodies.slice(1).join()).toContain("Ana 2");
    expect(bodies.slice(1).join()).not.toContain("Ana 1");
  });
});
