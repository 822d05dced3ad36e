import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { EntitlementCache } from "../../clients/typescript/src/entitlements.ts";
import {
  type FeedState,
  type FollowOptions,
  followEvents,
} from "../../clients/typescript/src/follow-events.ts";
import { connectionOf } from "../../clients/typescript/src/options.ts";

/** What a request is answered with. */
type Answer = (signal: AbortSignal) => Response | Promise<Response>;

const SECOND = 1_000;
const START = Date.parse("2026-05-06T07:08:09Z");

const requests: { path: string; after: string | null; atSeconds: number }[] = [];
/** For the next requests, in order; each stream that is not named breaks off. */
const answers: { stream: Answer[]; events: Answer[]; entitlements: Answer[] } = {
  stream: [],
  events: [],
  entitlements: [],
};
const stop = { signal: new AbortController().signal, abort: () => {} };

beforeEach(() => {
  vi.useFakeTimers({ now: START });
  vi.spyOn(Math, "random").mockReturnValue(1);
  const stopping = new AbortController();
  Object.assign(stop, { signal: stopping.signal, abort: () => stopping.abort() });
  requests.length = 0;
  for (const list of Object.values(answers)) list.length = 0;
});
afterEach(() => {
  stop.abort();
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const connection = connectionOf({
  url: "https://tollgate.example.com",
  key: "tgs_key",
  maxRetries: 0,
  fetch: async (input, init) => {
    const { pathname, searchParams } = new URL(String(input));
    const path = pathname.replace(/^.*\//, "") as keyof typeof answers;
    const after = new Headers(init?.headers).get("last-event-id") ?? searchParams.get("after");
    requests.push({ path, after, atSeconds: (Date.now() - START) / SECOND });
    const answer = answers[path].shift() ?? broken;
    return answer(init?.signal as AbortSignal);
  },
});
const timesOf = (path: string) =>
  requests.filter((sent) => sent.path === path).map(({ atSeconds }) => atSeconds);

const broken: Answer = () => {
  throw new TypeError("fetch failed");
};
const refused =
  (status: number, reason = "x", headers = {}): Answer =>
  () =>
    Response.json({ error: "Refused", reason, params: {} }, { status, headers });
const silent: Answer = (signal) =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
const eventOf = (id: string, occurredAt = new Date(START)) => ({
  id,
  type: "user.created",
  occurredAt: occurredAt.toISOString(),
  version: "v2",
  data: { id: "user_1", externalId: null },
});
const sse = (id: string) => `id: ${id}\ndata: ${JSON.stringify(eventOf(id))}\n\n`;

/** A stream that sends this at once. */
const stream =
  (text: string, end: "stays open" | "ends" | "breaks off" = "stays open"): Answer =>
  (signal) => {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        if (text !== "") controller.enqueue(new TextEncoder().encode(text));
        if (end === "ends") controller.close();
        if (end === "breaks off") setTimeout(() => controller.error(new TypeError("terminated")));
        if (end === "stays open") signal.addEventListener("abort", () => controller.error(signal.reason));
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
const page = (...events: ReturnType<typeof eventOf>[]): Answer => {
  const nextCursor = events.at(-1)?.id ?? "end";
  return () => Response.json({ data: events, nextCursor });
};

/** Follows until the test ends. */
function follow(options: FollowOptions = {}) {
  const received: string[] = [];
  const states: [FeedState, boolean][] = [];
  const started: string[] = [];
  const feed = { received, states, started, outcome: "goes on" as unknown };
  const onState = (state: FeedState, isContinuous: boolean) => void states.push([state, isContinuous]);
  const onStart = (id: string) => void started.push(id);
  const reading = (async () => {
    const events = followEvents(connection, { signal: stop.signal, onState, onStart, ...options });
    for await (const { id } of events) received.push(id);
  })();
  reading.then(
    () => Object.assign(feed, { outcome: "stopped" }),
    (outcome) => Object.assign(feed, { outcome }),
  );
  return feed;
}
const pass = (seconds: number) => vi.advanceTimersByTimeAsync(seconds * SECOND);

describe("a feed", () => {
  it.each([400, 401, 403, 410])("ends when the stream or a poll is refused with %d", async (status) => {
    answers.stream.push(refused(status, "events_dropped"));
    answers.events.push(refused(status, "events_dropped"));
    const byStream = follow({ after: "1" });
    await pass(0);
    expect(byStream.outcome).toMatchObject({ status, reason: "events_dropped" });
    const byPolls = follow({ after: "1" });
    await pass(2);
    expect(byPolls.outcome).toMatchObject({ status, reason: "events_dropped" });
    expect(requests.map(({ path }) => path)).toEqual(["stream", "stream", "stream", "events"]);
  });

  it("opens a stream again that the server ends, after its last event, without polls", async () => {
    answers.stream.push(...["1", "2", "3"].map((id) => stream(sse(id), "ends")));
    answers.stream.push(stream(": connected\n\n"));
    const { received, states } = follow();
    await pass(10);
    expect(received).toEqual(["1", "2", "3"]);
    expect(requests).toEqual(
      [null, "1", "2", "3"].map((after, n) => ({ path: "stream", after, atSeconds: n / 2 })),
    );
    expect(states).toEqual([
      ["streaming", false],
      ...[1, 2, 3].flatMap(() => [
        ["waiting", true],
        ["streaming", true],
      ]),
    ]);
  });

  it("counts the failures in a row: a stream that has worked is opened again, without polls", async () => {
    const working = stream(": connected\n\n", "breaks off");
    answers.stream.push(broken, working, working, stream(": connected\n\n"));
    follow({ after: "1" });
    await pass(10);
    expect(requests.map(({ path, atSeconds }) => [path, Math.round(atSeconds)])).toEqual(
      [0, 1, 2, 3].map((seconds) => ["stream", seconds]),
    );
  });

  it("polls where streams end without a sign of life", async () => {
    answers.stream.push(...[1, 2].map(() => stream("", "ends")));
    answers.events.push(page());
    const { states } = follow({ after: "1" });
    await pass(4);
    expect(requests.map(({ path }) => path)).toEqual(["stream", "stream", "events"]);
    expect(states.at(-1)).toEqual(["polling", true]);
  });

  it("gives up a stream that does not begin for 10 s, or is silent for 45 s", async () => {
    answers.stream.push(stream(": connected\n\n"), silent);
    answers.events.push(page());
    const { states } = follow({ after: "1" });
    await pass(44);
    expect(timesOf("stream")).toEqual([0]);
    await pass(11.9);
    expect(requests.map(({ atSeconds }) => atSeconds)).toEqual([0, 46]);
    await pass(0.1);
    expect(timesOf("events")).toEqual([56]);
    expect(states.map(([state]) => state)).toEqual(["streaming", "waiting", "polling"]);
  });

  it("keeps a stream that works while the program works on an event, for however long", async () => {
    const events = new TransformStream<Uint8Array, Uint8Array>();
    const writer = events.writable.getWriter();
    const write = (text: string) => writer.write(new TextEncoder().encode(text)).catch(() => {});
    answers.stream.push((signal) => {
      signal.addEventListener("abort", () => writer.abort(signal.reason));
      return new Response(events.readable, { headers: { "content-type": "text/event-stream" } });
    });
    const received: string[] = [];
    const failures: unknown[] = [];
    const onFailure = (error: unknown) => void failures.push(error);
    void (async () => {
      for await (const { id } of followEvents(connection, { after: "0", signal: stop.signal, onFailure })) {
        received.push(id);
        await new Promise((resolve) => setTimeout(resolve, 50 * SECOND));
      }
    })();
    await pass(1);
    void write(sse("1"));
    for (let sent = 0; sent < 3; sent += 1) {
      await pass(15);
      void write(": alive\n\n");
    }
    void write(sse("2"));
    await pass(10);
    expect([received, failures]).toEqual([["1", "2"], []]);
    expect(timesOf("stream")).toEqual([0]);
  });

  it("waits longer each time that nothing works, half a minute at most", async () => {
    follow({ after: "1" });
    await pass(100);
    // Two streams that break off, and a poll at once.
    expect(timesOf("stream")).toEqual([0, 1, 3, 7, 15, 31, 61, 91]);
    expect(timesOf("events")).toEqual([1, 7, 31, 91]);
  });

  it("tells the error of each attempt that failed, and only throws the one that ends it", async () => {
    const failures: unknown[] = [];
    answers.stream.push(refused(404), broken, refused(401));
    answers.events.push(refused(503));
    const feed = follow({ after: "1", onFailure: (error) => void failures.push(error) });
    await pass(10);
    expect(failures).toMatchObject([{ status: 404 }, { status: null, reason: "network" }, { status: 503 }]);
    expect(feed.outcome).toMatchObject({ status: 401 });
  });

  it.each([
    { random: 0, seconds: 20 },
    { random: 1, seconds: 20.5 },
  ])("waits as long as the server says, and up to half a second: $random", async ({ random, seconds }) => {
    vi.spyOn(Math, "random").mockReturnValue(random);
    answers.stream.push(refused(503, "unavailable", { "retry-after": "20" }), stream(": connected\n\n"));
    follow({ after: "1" });
    await pass(40);
    expect(timesOf("stream")).toEqual([0, seconds]);
  });

  it("waits, too, where it should for longer than timers can", async () => {
    const retryAfter = { "retry-after": "Fri, 31 Dec 9999 23:59:59 GMT" };
    answers.stream.push(refused(503, "unavailable", retryAfter));
    follow({ after: "1" });
    await pass(86_400);
    expect(timesOf("stream")).toEqual([0]);
  });

  it("polls every 5 s where streams break off, tries the stream again after a minute, and polls on", async () => {
    answers.events.push(...Array.from({ length: 30 }, () => page()));
    const { states } = follow({ after: "1" });
    await pass(71);
    expect(timesOf("stream")).toEqual([0, 1, 61]);
    expect(timesOf("events")).toEqual([1, 6, 11, 16, 21, 26, 31, 36, 41, 46, 51, 56, 61, 61, 66, 71]);
    expect(states).toEqual([
      ["waiting", true],
      ["polling", true],
    ]);
  });

  it("asks for full pages one after another, and leaves out what happened before it began", async () => {
    const ids = Array.from({ length: 100 }, (_, n) => `old_${n}`);
    answers.events.push(page(...ids.map((id) => eventOf(id, new Date(START - 1)))));
    answers.events.push(page(eventOf("old_100", new Date(START - 1)), eventOf("new_1")));
    // Reported late, but a follower of what comes after.
    answers.events.push(page(eventOf("new_2", new Date(START - 1))), page());
    const { received, started } = follow();
    await pass(12);
    expect(received).toEqual(["new_1", "new_2"]);
    // A program that ends while it works on new_1 gets it again.
    expect(started).toEqual(["old_100"]);
    expect(requests.filter(({ path }) => path === "events")).toEqual([
      { path: "events", after: null, atSeconds: 1 },
      { path: "events", after: "old_99", atSeconds: 1 },
      { path: "events", after: "new_1", atSeconds: 6 },
      { path: "events", after: "new_2", atSeconds: 11 },
    ]);
  });

  it.each([
    ["ahead", -3_600],
    ["behind", 3_600],
  ])("leaves out what happened before it began although its clock is %s", async (_, seconds) => {
    const serverAt = (passedMs: number) => new Date(START + seconds * SECOND + passedMs);
    const events = [eventOf("old", serverAt(-2_000)), eventOf("new", serverAt(500))];
    const date = serverAt(1_000).toUTCString();
    answers.events.push(() => Response.json({ data: events, nextCursor: "new" }, { headers: { date } }));
    const { received, started } = follow();
    await pass(2);
    expect([received, started]).toEqual([["new"], ["old"]]);
  });

  it("leaves out what happened before it began although its clock is set forward meanwhile", async () => {
    const serverAt = (passedMs: number) => new Date(START + 3_600 * SECOND + passedMs);
    answers.events.push(page(eventOf("old", serverAt(-2_000)), eventOf("new", serverAt(500))));
    const { received, started, states } = follow();
    await pass(0.5);
    vi.setSystemTime(serverAt(500));
    await pass(2);
    expect([received, started]).toEqual([["new"], ["old"]]);
    // The machine may as well have slept for that hour.
    expect(states.at(-1)).toEqual(["polling", false]);
  });

  it("leaves out nothing after the last event that was processed", async () => {
    answers.events.push(page(eventOf("late", new Date(START - 1))));
    const { received } = follow({ after: "1" });
    await pass(2);
    expect(received).toEqual(["late"]);
  });

  it("closes its connection when it is stopped", async () => {
    let isClosed = false;
    answers.stream.push((connected) => {
      connected.addEventListener("abort", () => {
        isClosed = true;
      });
      return stream(": connected\n\n")(connected);
    });
    const feed = follow();
    await pass(1);
    stop.abort();
    await pass(0);
    expect([feed.outcome, isClosed]).toEqual(["stopped", true]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("ends a poll when it is stopped", async () => {
    answers.events.push(silent);
    const feed = follow();
    await pass(2);
    expect(timesOf("events")).toEqual([1]);
    stop.abort();
    await pass(0);
    expect(feed.outcome).toBe("stopped");
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("entitlements that are kept", () => {
  const entitled =
    (planId: string): Answer =>
    () =>
      Response.json({ planId, status: "active", until: null, features: {} });
  const planOf = async (cache: EntitlementCache) => (await cache.get({ user: "user_1" })).planId;

  it("are followed from now on where events have been dropped, and asked for again", async () => {
    answers.stream.push(stream(sse("1"), "ends"), refused(410, "events_dropped"));
    answers.stream.push(stream(": connected\nid: 9\n\n"));
    answers.entitlements.push(entitled("free"), entitled("pro"));
    const cache = new EntitlementCache(connection);
    expect(await planOf(cache)).toBe("free");
    await pass(5);
    expect(requests.filter(({ path }) => path === "stream").map(({ after }) => after)).toEqual([
      null,
      "1",
      null,
    ]);
    expect([cache.state, await planOf(cache)]).toEqual(["streaming", "pro"]);
    cache.close();
  });

  it("are asked for again once their changes are followed, and then after five minutes", async () => {
    answers.stream.push(stream(": connected\n\n"));
    answers.entitlements.push(...["free", "pro", "team"].map(entitled));
    const cache = new EntitlementCache(connection, {}, { timing: { silenceMs: 10_000_000 } });
    const plans = [await planOf(cache)];
    for (const seconds of [0, 299, 2]) {
      await pass(seconds);
      plans.push(await planOf(cache));
    }
    // What has changed before the stream began is not reported; a new plan in the server's file is not either.
    expect(plans).toEqual(["free", "pro", "pro", "team"]);
    cache.close();
  });

  it("are followed again a minute after the key was refused its events", async () => {
    answers.stream.push(refused(403, "missing_permission"), stream(": connected\n\n"));
    answers.entitlements.push(...Array.from({ length: 10 }, () => entitled("free")));
    const cache = new EntitlementCache(connection);
    for (const seconds of [0, 1, 58]) {
      await pass(seconds);
      await planOf(cache);
    }
    expect([cache.state, timesOf("stream")]).toEqual(["off", [0]]);
    await pass(2);
    await planOf(cache);
    await pass(1);
    expect([cache.state, timesOf("stream")]).toEqual(["streaming", [0, 61]]);
    cache.close();
  });
});
