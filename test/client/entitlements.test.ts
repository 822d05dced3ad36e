import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { EntitlementCache, type EntitlementOptions } from "../../clients/typescript/src/entitlements.ts";
import { type FeedState, followEvents } from "../../clients/typescript/src/follow-events.ts";
import { connectionOf } from "../../clients/typescript/src/options.ts";
import type { UserRef } from "../../clients/typescript/src/shapes.ts";
import { createTollgate } from "../../clients/typescript/src/tollgate.ts";
import { fixtureDelivery } from "../fixtures/fixture.ts";
import { eventually } from "../support/eventually.ts";
import { freshServer } from "../support/fresh-server.ts";
import { deliverWebhook } from "../support/http.ts";
import { createKey, createUser } from "../support/people.ts";
import { createServiceKey } from "../support/service-keys.ts";
import { SECRETS } from "../support/variables.ts";

const TIMING = { firstBackoffMs: 10, maxBackoffMs: 50, pollEveryMs: 20, retryStreamEveryMs: 100 };

const { test, server } = freshServer({ users: 12 });
let key: string;
const caches: EntitlementCache[] = [];
beforeAll(async () => {
  ({ key } = await createServiceKey(test, { permissions: ["entitlements:read", "events:read"] }));
});
afterEach(() => {
  for (const cache of caches.splice(0)) cache.close();
});

/** A network that can be cut: streams alone, or everything. */
class Network {
  isDown = false;
  areStreamsDown = false;
  /** What a proxy answers with a page of its own, and status 200. */
  replaced: "nothing" | "streams" | "everything" = "nothing";
  readonly requests: { path: string; status: number }[] = [];
  readonly #streams = new Set<AbortController>();

  readonly fetch: typeof fetch = async (input, init) => {
    const { pathname } = new URL(String(input));
    const isStream = pathname.endsWith("/stream");
    if (this.isDown || (isStream && this.areStreamsDown)) throw new TypeError("fetch failed");
    if (this.replaced === "everything" || (isStream && this.replaced === "streams"))
      return new Response("<!doctype html>\n\n<p>Maintenance\n\n", {
        headers: { "content-type": "text/html" },
      });
    const cut = new AbortController();
    if (isStream) this.#streams.add(cut);
    const response = await fetch(input, {
      ...init,
      signal: AbortSignal.any([cut.signal, ...(init?.signal ? [init.signal] : [])]),
    });
    this.requests.push({ path: pathname.replace("/api/v2", ""), status: response.status });
    return response;
  };

  cutStreams(): void {
    for (const stream of this.#streams) stream.abort();
    this.#streams.clear();
  }

  /** Of requests about entitlements. */
  get statuses(): number[] {
    return this.requests.filter(({ path }) => path === "/entitlements").map(({ status }) => status);
  }
}

function openCache(network: Network, options: EntitlementOptions = {}, as = key): EntitlementCache {
  const connection = connectionOf({ url: server.url, key: as, fetch: network.fetch, maxRetries: 0 });
  const cache = new EntitlementCache(connection, options, { timing: TIMING });
  caches.push(cache);
  return cache;
}

let deliveries = 0;

/** A purchase, as its provider reports it. */
async function buy(userId: string, planId: "pro" | "team"): Promise<void> {
  deliveries += 1;
  const delivery = fixtureDelivery("stripe", "customer.subscription.created", {
    secret: SECRETS["provider-a"],
    nowSeconds: Math.floor(Date.now() / 1000),
    eventId: `evt_${deliveries}`,
    subscriptionId: `sub_${deliveries}`,
    customerId: `cus_${userId}`,
    userId,
    planId,
    priceId: `price_${planId}_monthly`,
    seats: planId === "team" ? 5 : 1,
    status: "active",
  });
  expect((await deliverWebhook(server.url, "provider-a", delivery)).status).toBe(200);
}

const planOf = async (cache: EntitlementCache, user: string) => (await cache.get({ user })).planId;
const streaming = (cache: EntitlementCache) => eventually(async () => cache.state, "streaming");

describe("entitlements", () => {
  it("are fetched once while the event stream reports no change, and again after one", async () => {
    const network = new Network();
    const cache = openCache(network);
    await cache.get({ user: "user_0" });
    await streaming(cache);
    expect(await Promise.all([planOf(cache, "user_0"), planOf(cache, "user_1")])).toEqual(["free", "free"]);
    const before = network.statuses.length;
    for (let i = 0; i < 3; i += 1) expect(await planOf(cache, "user_0")).toBe("free");
    expect(await cache.allows({ user: "user_0" }, "projects", 2)).toBe(false);
    expect(network.statuses).toHaveLength(before);
    await buy("user_0", "pro");
    await eventually(() => planOf(cache, "user_0"), "pro");
    expect(await planOf(cache, "user_1")).toBe("free");
    // The answer for user_1 was kept.
    expect(network.statuses).toHaveLength(before + 1);
  });

  it("are kept apart for users whose other name is undefined", async () => {
    const cache = openCache(new Network(), { followEvents: false });
    await buy("user_10", "pro");
    await test.rows(`update "user" set external_id = 'shop-' || id where id in ('user_10', 'user_11')`);
    const planOfNamed = async (user?: string, externalId?: string) =>
      (await cache.get({ user, externalId } as UserRef)).planId;
    expect(await planOfNamed(undefined, "shop-user_10")).toBe("pro");
    expect(await planOfNamed(undefined, "shop-user_11")).toBe("free");
    expect(await planOfNamed("user_10")).toBe("pro");
    expect(await planOfNamed("user_11")).toBe("free");
    await expect(planOfNamed("user_11", "shop-user_10")).rejects.toMatchObject({ reason: "invalid_input" });
  });

  it("are fetched once for simultaneous callers", async () => {
    const network = new Network();
    const cache = openCache(network, { followEvents: false });
    await Promise.all([planOf(cache, "user_2"), planOf(cache, "user_2"), planOf(cache, "user_2")]);
    expect(network.statuses).toEqual([200]);
  });

  it("catch up with the events missed while the stream was disconnected", async () => {
    const network = new Network();
    const cache = openCache(network);
    await cache.get({ user: "user_3" });
    await streaming(cache);
    expect(await planOf(cache, "user_3")).toBe("free");
    network.isDown = true;
    network.cutStreams();
    await eventually(async () => cache.state, "waiting");
    await buy("user_3", "pro");
    network.isDown = false;
    await streaming(cache);
    await eventually(() => planOf(cache, "user_3"), "pro");
  });

  it("are refreshed by polling while streams are blocked, and by the stream afterwards", async () => {
    const network = new Network();
    network.areStreamsDown = true;
    const cache = openCache(network);
    expect(await planOf(cache, "user_4")).toBe("free");
    await eventually(async () => cache.state, "polling");
    await buy("user_4", "pro");
    await eventually(() => planOf(cache, "user_4"), "pro");
    network.areStreamsDown = false;
    await streaming(cache);
    await buy("user_4", "team");
    await eventually(async () => (await cache.get({ user: "user_4" })).features.projects?.value, 100);
  });

  it("are revalidated by ETag without the permission to read events", async () => {
    const network = new Network();
    const { key: plain } = await createServiceKey(test, { permissions: ["entitlements:read"] });
    const cache = openCache(network, { pollEverySeconds: 0 }, plain);
    await cache.get({ user: "user_5" });
    await eventually(
      async () => network.requests.some(({ path, status }) => path.endsWith("/stream") && status === 403),
      true,
    );
    await eventually(async () => cache.state, "off");
    await cache.get({ user: "user_5" });
    expect(network.statuses.at(-1)).toBe(304);
    await buy("user_5", "pro");
    expect(await planOf(cache, "user_5")).toBe("pro");
  });

  it("do not keep a program from ending whose key is not valid", async () => {
    const client = new URL("../../clients/typescript/src/tollgate.ts", import.meta.url).href;
    const program = `
      import { createTollgate } from "${client}";
      const tollgate = createTollgate({ url: "${server.url}", key: "tgs_wrong" });
      const { status } = await tollgate.entitlements.get({ externalId: "customer-17" }).catch((error) => error);
      console.log(status);`;
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ["--input-type=module", "--eval", program],
      { timeout: 30_000 },
    );
    expect(stdout).toBe("401\n");
  });

  it("name an address that is none", () => {
    expect(() => createTollgate({ url: "tollgate.example.com" })).toThrow('url: "tollgate.example.com"');
  });

  it("are fetched without a user id with the user's own key", async () => {
    const network = new Network();
    const userKey = await createKey(server.url, await createUser(test));
    const cache = openCache(network, {}, userKey.key);
    expect((await cache.get()).planId).toBe("free");
    expect(await cache.allows(undefined, "community-support")).toBe(true);
    expect(network.statuses).toEqual([200]);
    expect(cache.state).toBe("off");
  });

  it("are served from the cache while the server is unreachable, for a limited time", async () => {
    const network = new Network();
    const patient = openCache(network, { followEvents: false, pollEverySeconds: 0 });
    const strict = openCache(network, { followEvents: false, pollEverySeconds: 0, staleIfErrorSeconds: 0 });
    await patient.get({ user: "user_6" });
    await strict.get({ user: "user_6" });
    network.isDown = true;
    expect(await planOf(patient, "user_6")).toBe("free");
    await expect(strict.get({ user: "user_6" })).rejects.toMatchObject({ reason: "network" });
    await expect(patient.get({ user: "user_7" })).rejects.toMatchObject({ reason: "network" });
  });

  it("are served from the cache while a proxy answers with a page", async () => {
    const network = new Network();
    const cache = openCache(network, { followEvents: false, pollEverySeconds: 0 });
    await cache.get({ user: "user_6" });
    network.replaced = "everything";
    expect(await planOf(cache, "user_6")).toBe("free");
    await expect(cache.get({ user: "user_7" })).rejects.toMatchObject({ reason: "status_200" });
  });

  it("do not take a page for a stream", async () => {
    const network = new Network();
    network.replaced = "streams";
    const states: FeedState[] = [];
    const connection = connectionOf({ url: server.url, key, fetch: network.fetch, maxRetries: 0 });
    const stop = new AbortController();
    const onState = (state: FeedState) => {
      states.push(state);
      if (state !== "waiting") stop.abort();
    };
    for await (const _ of followEvents(connection, { timing: TIMING, signal: stop.signal, onState }));
    expect(states.at(-1)).toBe("polling");
  });

  it("are served for five more minutes after the stream has broken off", async () => {
    const network = new Network();
    const cache = openCache(network);
    await cache.get({ user: "user_6" });
    await streaming(cache);
    await cache.get({ user: "user_6" });
    const start = Date.now();
    const passed = (seconds: number) => vi.useFakeTimers({ toFake: ["Date"], now: start + seconds * 1000 });
    try {
      passed(250);
      network.isDown = true;
      network.cutStreams();
      await eventually(async () => cache.state, "waiting");
      passed(540);
      expect(await planOf(cache, "user_6")).toBe("free");
      passed(560);
      await expect(cache.get({ user: "user_6" })).rejects.toMatchObject({ reason: "network" });
    } finally {
      vi.useRealTimers();
    }
  });

  it("are not used once access has ended, whether the server can be reached or not", async () => {
    const now = Date.now();
    const until = new Date(now + 60_000).toISOString();
    let isDown = false;
    let answers = 0;
    const answer: typeof fetch = async () => {
      if (isDown) throw new TypeError("fetch failed");
      answers += 1;
      return Response.json({ planId: "pro", status: "past_due", until, features: {} });
    };
    const connection = connectionOf({ url: server.url, key: "tg_key", fetch: answer, maxRetries: 0 });
    const cache = new EntitlementCache(connection, { pollEverySeconds: 600 });
    for (let i = 0; i < 2; i += 1) await cache.get();
    expect(answers).toBe(1);
    vi.useFakeTimers({ toFake: ["Date"], now: now + 61_000 });
    try {
      await cache.get();
      expect(answers).toBe(2);
      isDown = true;
      await expect(cache.get()).rejects.toMatchObject({ reason: "network" });
    } finally {
      vi.useRealTimers();
    }
  });

  it("are not used for longer when the clock has been set back", async () => {
    let isDown = false;
    let answers = 0;
    const answer: typeof fetch = async () => {
      if (isDown) throw new TypeError("fetch failed");
      answers += 1;
      return Response.json({ planId: "pro", status: "active", until: null, features: {} });
    };
    const connection = connectionOf({ url: server.url, key: "tg_key", fetch: answer, maxRetries: 0 });
    const cache = new EntitlementCache(connection, { pollEverySeconds: 600, staleIfErrorSeconds: 1200 });
    await cache.get();
    const [time, elapsed] = [Date.now(), performance.now()];
    const clock = vi.spyOn(performance, "now");
    vi.useFakeTimers({ toFake: ["Date"], now: time - 86_400_000 });
    try {
      clock.mockReturnValue(elapsed + 590_000);
      await cache.get();
      expect(answers).toBe(1);
      clock.mockReturnValue(elapsed + 601_000);
      await cache.get();
      expect(answers).toBe(2);
      isDown = true;
      clock.mockReturnValue(elapsed + 1_790_000);
      expect((await cache.get()).planId).toBe("pro");
      clock.mockReturnValue(elapsed + 1_802_000);
      await expect(cache.get()).rejects.toMatchObject({ reason: "network" });
    } finally {
      vi.useRealTimers();
      clock.mockRestore();
    }
  });

  it("are not used once the server has refused them", async () => {
    const states = ["there", "gone", "away"];
    const answer: typeof fetch = async () => {
      const state = states.shift();
      if (state === "away") throw new TypeError("fetch failed");
      if (state === "gone")
        return Response.json({ error: "No such user", reason: "not_found" }, { status: 404 });
      return Response.json({ planId: "pro", status: "active", until: null, features: {} });
    };
    const connection = connectionOf({ url: server.url, key: "tg_key", fetch: answer, maxRetries: 0 });
    const cache = new EntitlementCache(connection, { pollEverySeconds: 0 });
    expect((await cache.get()).planId).toBe("pro");
    await expect(cache.get()).rejects.toMatchObject({ reason: "not_found" });
    await expect(cache.get()).rejects.toMatchObject({ reason: "network" });
  });

  it.each([429, 500, 503])("are served from the cache while the server answers %d", async (status) => {
    const statuses = [200, status];
    const answer: typeof fetch = async () =>
      Response.json(
        { planId: "pro", status: "active", until: null, features: {} },
        { status: statuses.shift() ?? 0 },
      );
    const connection = connectionOf({ url: server.url, key: "tg_key", fetch: answer, maxRetries: 0 });
    const cache = new EntitlementCache(connection, { pollEverySeconds: 0 });
    for (let i = 0; i < 2; i += 1) expect((await cache.get()).planId).toBe("pro");
  });

  it("allow flags that are set, and limits up to their value", async () => {
    const features = {
      sso: { kind: "flag", value: false },
      support: { kind: "flag", value: true },
      projects: { kind: "limit", value: 3 },
    };
    const answer: typeof fetch = async () =>
      Response.json({ planId: "pro", status: "active", until: null, features });
    const connection = connectionOf({ url: server.url, key: "tg_key", fetch: answer });
    const cache = new EntitlementCache(connection);
    const allowed = (feature: string, amount?: number) => cache.allows(undefined, feature, amount);
    expect(await Promise.all([allowed("sso"), allowed("support")])).toEqual([false, true]);
    expect(await Promise.all([allowed("projects", 3), allowed("projects", 4)])).toEqual([true, false]);
  });

  it("asked for by your own id are fetched again after a change, and not kept of a deleted user", async () => {
    await test.rows(
      `insert into "user" (id, external_id, name, email) values ('user_x', 'customer-x', 'X', 'x@example.com')`,
    );
    const cache = openCache(new Network());
    const user = { externalId: "customer-x" };
    await cache.get(user);
    await streaming(cache);
    expect((await cache.get(user)).planId).toBe("free");
    await buy("user_x", "pro");
    await eventually(async () => (await cache.get(user)).planId, "pro");
    await test.rows(`delete from "user" where id = 'user_x'`);
    const reasonOf = () =>
      cache.get(user).then(
        () => null,
        ({ reason }) => reason,
      );
    await eventually(reasonOf, "not_found");
  });

  it("are asked for again when they have changed on their way", async () => {
    const sent: ((plan: string) => void)[] = [];
    const answer: typeof fetch = () =>
      new Promise((resolve) => {
        sent.push((planId) =>
          resolve(Response.json({ planId, status: "active", until: null, features: {} })),
        );
      });
    const connection = connectionOf({ url: server.url, key: "tg_key", fetch: answer, maxRetries: 0 });
    const cache = new EntitlementCache(connection, { pollEverySeconds: 600 });
    const first = cache.get();
    await eventually(async () => sent.length, 1);
    cache.invalidate();
    sent[0]?.("free");
    expect((await first).planId).toBe("free");
    const second = cache.get();
    await eventually(async () => sent.length, 2);
    sent[1]?.("pro");
    expect((await second).planId).toBe("pro");
  });

  it("are cached for a limited number of users", async () => {
    const network = new Network();
    const cache = openCache(network, { followEvents: false, pollEverySeconds: 600, maxUsers: 2 });
    for (const user of ["user_6", "user_7", "user_6", "user_8", "user_6", "user_7"])
      await cache.get({ user });
    expect(network.statuses).toHaveLength(4);
  });

  it("are counted by the server for quotas", async () => {
    const network = new Network();
    const { key: full } = await createServiceKey(test);
    const tollgate = createTollgate({ url: server.url, key: full, fetch: network.fetch });
    const user = { user: "user_8" };
    expect(await tollgate.entitlements.allows(user, "events", 1_000)).toBe(true);
    expect((await tollgate.entitlements.get(user)).features.events?.used).toBe(0);
    const usage = { feature: "events", amount: 400, idempotencyKey: "first" };
    expect(await tollgate.recordUsage(user, usage)).toEqual({ used: 400, remaining: 600 });
    expect(await tollgate.recordUsage(user, usage)).toEqual({ used: 400, remaining: 600 });
    expect((await tollgate.entitlements.get(user)).features.events?.used).toBe(400);
    expect(await tollgate.entitlements.allows(user, "events", 601)).toBe(false);
    expect(await tollgate.entitlements.check(user, "events", 601)).toMatchObject({
      allowed: false,
      reason: "quota_exceeded",
      remaining: 600,
    });
    await expect(tollgate.entitlements.allows(user, "nothing")).rejects.toMatchObject({
      reason: "not_found",
    });
    tollgate.close();
  });
});

describe("events", () => {
  it("continue after the last one that was processed, across breaks, each once", async () => {
    const network = new Network();
    const connection = connectionOf({ url: server.url, key, fetch: network.fetch });
    const stop = new AbortController();
    const states: FeedState[] = [];
    const received: string[] = [];
    const reading = (async () => {
      const onState = (state: FeedState) => void states.push(state);
      for await (const event of followEvents(connection, { signal: stop.signal, onState, timing: TIMING }))
        if (event.type === "user.updated") received.push(event.id);
    })();
    const rename = (name: string) => test.rows(`update "user" set name = $1 where id = 'user_9'`, [name]);
    await eventually(async () => states.at(-1), "streaming" as FeedState | undefined);
    await rename("One");
    await eventually(async () => received.length, 1);
    network.isDown = true;
    network.cutStreams();
    await eventually(async () => states.at(-1), "waiting" as FeedState | undefined);
    await rename("Two");
    network.isDown = false;
    await eventually(async () => received.length, 2);
    network.cutStreams();
    await rename("Three");
    await eventually(async () => received.length, 3);
    expect(new Set(received).size).toBe(3);
    stop.abort();
    await reading;
    const resumed = followEvents(connection, { after: received[1] ?? null, timing: TIMING });
    for await (const event of resumed) {
      if (event.type !== "user.updated") continue;
      expect(event.id).toBe(received[2]);
      break;
    }
  });

  it("miss none between a stream that brought none and the next one", async () => {
    const network = new Network();
    const renameBeforeSecondStream: typeof fetch = async (input, init) => {
      if (network.requests.length === 1) {
        await test.rows(`update "user" set name = 'Renamed' where id = 'user_8'`);
        await eventually(() => test.rows("select from outbound_event where position is null"), []);
      }
      return network.fetch(input, init);
    };
    const connection = connectionOf({ url: server.url, key, fetch: renameBeforeSecondStream });
    const onState = (state: FeedState) => {
      if (state === "streaming" && network.requests.length === 1) network.cutStreams();
    };
    const following = followEvents(connection, { onState, timing: TIMING });
    const { value: event } = await following.next();
    expect(event).toMatchObject({ type: "user.updated", data: { id: "user_8" } });
    await following.return(undefined);
  });

  it("miss none between polls that brought none and the stream", async () => {
    const network = new Network();
    network.areStreamsDown = true;
    const renameBeforeStream: typeof fetch = async (input, init) => {
      if (String(input).endsWith("/stream") && network.requests.length > 0) {
        await test.rows(`update "user" set name = 'Polled' where id = 'user_7'`);
        await eventually(() => test.rows("select from outbound_event where position is null"), []);
        network.areStreamsDown = false;
      }
      return network.fetch(input, init);
    };
    const connection = connectionOf({ url: server.url, key, fetch: renameBeforeStream });
    const following = followEvents(connection, { timing: TIMING });
    const { value: event } = await following.next();
    expect(event).toMatchObject({ type: "user.updated", data: { id: "user_7" } });
    await following.return(undefined);
  });

  it("end with the reason when the key may not read them", async () => {
    const { key: plain } = await createServiceKey(test, { permissions: ["users:read"] });
    const connection = connectionOf({ url: server.url, key: plain });
    await expect(followEvents(connection, { timing: TIMING }).next()).rejects.toMatchObject({
      status: 403,
      reason: "missing_permission",
      params: { permission: "events:read" },
    });
  });
});
