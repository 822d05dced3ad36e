import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { connectionOf } from "../../clients/typescript/src/options.ts";
import { readRetryAfter, retryDelayMs } from "../../clients/typescript/src/retry-delay.ts";
import { createTollgate, TollgateError } from "../../clients/typescript/src/tollgate.ts";

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** The next responses, in order; then 200. */
const handlers: Handler[] = [];
const requests: string[] = [];
const server = createServer((request, response) => {
  requests.push(`${request.method} ${request.url}`);
  const respond = handlers.shift() ?? ((_request, answer) => answer.end("{}"));
  request.resume().on("end", () => respond(request, response));
});
let url: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));
afterEach(() => {
  handlers.length = 0;
  requests.length = 0;
});

const refuse =
  (status: number, reason: string, headers: Record<string, string> = {}): Handler =>
  (_request, response) =>
    void response
      .writeHead(status, { "content-type": "application/json", "x-request-id": "req-1", ...headers })
      .end(JSON.stringify({ error: `Refused: ${reason}`, reason, params: { n: 1 } }));
const hangUp: Handler = (request) => void request.socket.destroy();
const client = (options = {}) => createTollgate({ url, key: "tg_key", ...options });

async function errorOf(promise: Promise<unknown>): Promise<TollgateError> {
  const error = await promise.then(
    () => null,
    (reason) => reason,
  );
  expect(error).toBeInstanceOf(TollgateError);
  return error as TollgateError;
}

describe("a call over a limit", () => {
  it("is sent again after Retry-After, writes as well", async () => {
    handlers.push(refuse(429, "rate_limited", { "retry-after": "0" }));
    await client().request("POST", "/checkout", { body: { planId: "pro" } });
    expect(requests).toEqual(["POST /api/v2/checkout", "POST /api/v2/checkout"]);
  });

  it("fails at once when it would have to wait too long", async () => {
    handlers.push(refuse(429, "rate_limited", { "retry-after": "60" }));
    const error = await errorOf(client().request("GET", "/payments"));
    expect(error).toMatchObject({
      status: 429,
      reason: "rate_limited",
      retryAfterSeconds: 60,
      requestId: "req-1",
      params: { n: 1 },
      message: "Refused: rate_limited",
    });
    expect(requests).toHaveLength(1);
  });

  it("fails after a bounded number of attempts", async () => {
    for (let i = 0; i < 5; i += 1) handlers.push(refuse(429, "rate_limited", { "retry-after": "0" }));
    expect((await errorOf(client({ maxRetries: 2 }).request("GET", "/payments"))).status).toBe(429);
    expect(requests).toHaveLength(3);
  });
});

describe("a call whose outcome is not known", () => {
  it.each([
    ["a dropped connection", hangUp],
    ...[502, 503, 504].map((status): [string, Handler] => [
      String(status),
      refuse(status, "unavailable", { "retry-after": "0" }),
    ]),
  ])("is sent again when it reads, or has an idempotency key: %s", async (_what, failure) => {
    handlers.push(failure);
    await client().request("GET", "/payments");
    handlers.push(failure);
    await client().recordUsage({ user: "u" }, { feature: "events", amount: 1, idempotencyKey: "k" });
    expect(requests).toEqual([
      ...["GET /api/v2/payments", "GET /api/v2/payments"],
      ...["POST /api/v2/usage", "POST /api/v2/usage"],
    ]);
  });

  it.each(["HEAD", "PUT", "DELETE"])("is sent again when its method allows it: %s", async (method) => {
    handlers.push(hangUp, (_request, response) => void response.writeHead(204).end());
    expect(await client().request(method, "/event-endpoints/1")).toBeUndefined();
    expect(requests).toEqual(Array(2).fill(`${method} /api/v2/event-endpoints/1`));
  });

  it.each([
    ["a dropped connection", hangUp, null],
    ["503", refuse(503, "unavailable", { "retry-after": "0" }), 503],
  ])("is not sent again when it writes: %s", async (_what, failure, status) => {
    for (const method of ["POST", "PATCH"]) {
      handlers.push(failure);
      const error = await errorOf(client().request(method, "/event-endpoints/1", { body: {} }));
      expect(error.status).toBe(status);
    }
    handlers.push(failure);
    const mutation = await errorOf(client().rpc.user.updateProfile.mutate({ name: "Ana" }));
    expect(mutation.status).toBe(status);
    expect(requests).toHaveLength(3);
  });

  it("is sent again by RPC when it is a query", async () => {
    handlers.push(hangUp, refuse(403, "forbidden"));
    expect((await errorOf(client().rpc.user.me.query())).status).toBe(403);
    expect(requests).toHaveLength(2);
  });

  it("times out, and says so", async () => {
    handlers.push(() => {});
    const error = await errorOf(client({ timeoutMs: 50, maxRetries: 0 }).request("GET", "/payments"));
    expect([error.status, error.reason]).toEqual([null, "network"]);
  });

  it("is waited for as long as it takes without a limit", async () => {
    handlers.push((_request, response) => void setTimeout(() => response.end("{}"), 100));
    const endless = client({ timeoutMs: Number.POSITIVE_INFINITY, maxRetries: 0 });
    expect(await endless.request("GET", "/payments")).toEqual({});
  });

  it("times out too when only the beginning of the response arrives", { timeout: 20_000 }, async () => {
    const beginning: typeof fetch = async (_url, init) =>
      new Response(
        new ReadableStream({
          start: (controller) => {
            const { signal } = init as { signal: AbortSignal };
            signal.addEventListener("abort", () => controller.error(signal.reason));
          },
        }),
      );
    const options = { timeoutMs: 50, maxRetries: 0, fetch: beginning };
    const error = await errorOf(client(options).request("GET", "/payments"));
    expect([error.status, error.reason]).toEqual([null, "network"]);
  });
});

describe("RPC calls of the same moment", () => {
  it("are sent together, ten at most, which the server takes", async () => {
    const answer: Handler = ({ url = "" }, response) => {
      const calls = url.split("?")[0]?.split(",") ?? [];
      response.end(
        JSON.stringify(calls.map(() => ({ result: { data: { json: { count: calls.length } } } }))),
      );
    };
    handlers.push(answer, answer);
    const { rpc } = client();
    const counts = Array.from({ length: 11 }, () => rpc.notifications.unreadCount.query());
    expect((await Promise.all(counts)).map(({ count }) => count)).toEqual([...Array(10).fill(10), 1]);
    expect(requests).toHaveLength(2);
  });

  it("are divided where their inputs make the address longer than proxies take", async () => {
    const answer: Handler = ({ url = "" }, response) => {
      const calls = url.split("?")[0]?.split(",") ?? [];
      response.end(JSON.stringify(calls.map(() => ({ result: { data: { json: { allowed: true } } } }))));
    };
    handlers.push(answer, answer, answer);
    const { rpc } = client();
    const input = { feature: "x".repeat(1_500) };
    await Promise.all(Array.from({ length: 8 }, () => rpc.billing.check.query(input)));
    expect(requests).toHaveLength(3);
    for (const request of requests) expect(request.length).toBeLessThan(8_000);
  });
});

it("has an RPC client that can be awaited and printed without a call", async () => {
  const { rpc } = client();
  expect(await rpc).toBe(rpc);
  expect(JSON.stringify({ rpc: rpc.user })).toBe("{}");
  expect(requests).toEqual([]);
});

describe("any other refusal", () => {
  it.each([400, 401, 403, 404, 409, 500])("is final: %d", async (status) => {
    handlers.push(refuse(status, "x"));
    expect((await errorOf(client().request("GET", "/payments"))).status).toBe(status);
    expect(requests).toHaveLength(1);
  });

  it.each(["<html>", "null", '"refused"', ""])(
    "is reported with its status when its body is not Tollgate's: %s",
    async (body) => {
      handlers.push((_request, response) => void response.writeHead(400).end(body));
      expect(await errorOf(client().request("GET", "/payments"))).toMatchObject({
        status: 400,
        reason: "status_400",
        message: "The server answered 400",
      });
    },
  );
});

describe("a page in place of an answer, as of a wrong address", () => {
  const page: Handler = (_request, response) =>
    void response
      .writeHead(200, { "content-type": "text/html", "x-request-id": "req-2" })
      .end("<!doctype html><title>Shop</title>");

  it.each<[string, (tollgate: ReturnType<typeof client>) => Promise<unknown>]>([
    ["request", ({ request }) => request("GET", "/payments")],
    ["entitlements.get", ({ entitlements }) => entitlements.get()],
    ["entitlements.check", ({ entitlements }) => entitlements.check(undefined, "events")],
    [
      "recordUsage",
      ({ recordUsage }) =>
        recordUsage({ user: "user_1" }, { feature: "events", amount: 1, idempotencyKey: "1" }),
    ],
    ["rpc", ({ rpc }) => rpc.user.me.query()],
    [
      "recordUsage, the page being empty",
      ({ recordUsage }) => {
        handlers.unshift(
          (_request, response) => void response.writeHead(200, { "x-request-id": "req-2" }).end(),
        );
        return recordUsage({ user: "user_1" }, { feature: "events", amount: 1, idempotencyKey: "1" });
      },
    ],
  ])("is reported like any other failure: %s", async (_, call) => {
    handlers.push(page);
    expect(await errorOf(call(client()))).toMatchObject({
      status: 200,
      reason: "status_200",
      requestId: "req-2",
    });
    expect(requests).toHaveLength(1);
  });
});

it("reports what an RPC call is refused with", async () => {
  const data = { code: "TOO_MANY_REQUESTS", httpStatus: 429, reason: "rate_limited", params: { n: 1 } };
  handlers.push((_request, response) => {
    const headers = { "content-type": "application/json", "x-request-id": "req-1", "retry-after": "60" };
    response
      .writeHead(429, headers)
      .end(JSON.stringify([{ error: { json: { message: "Slow down", code: -32029, data } } }]));
  });
  expect(await errorOf(client().rpc.user.me.query())).toMatchObject({
    status: 429,
    reason: "rate_limited",
    retryAfterSeconds: 60,
    requestId: "req-1",
    params: { n: 1 },
    message: "Slow down",
  });
});

describe("an RPC call that a proxy answers", () => {
  const answer =
    (status: number, retryAfter = "0"): Handler =>
    (_request, response) =>
      void response.writeHead(status, { "retry-after": retryAfter }).end("<html>");

  it("fails at once when it would have to wait too long", async () => {
    handlers.push(answer(429, "60"));
    const error = await errorOf(client().rpc.user.me.query());
    expect([error.status, error.retryAfterSeconds]).toEqual([429, 60]);
  });

  it("is sent again after 429, mutations as well", async () => {
    handlers.push(answer(429), refuse(403, "forbidden"));
    await errorOf(client().rpc.user.updateProfile.mutate({ name: "Ana" }));
    expect(requests).toHaveLength(2);
  });

  it.each([401, 404, 413])("is reported with its status, and not sent again: %d", async (status) => {
    handlers.push(answer(status));
    const error = await errorOf(client().rpc.user.me.query());
    expect([error.status, error.reason]).toEqual([status, `status_${status}`]);
    expect(requests).toHaveLength(1);
  });
});

describe("an abort", () => {
  /** Whose calls do not end by themselves while a test runs. */
  const PATIENT = { timeoutMs: 10_000_000, maxRetryWaitMs: 10_000_000 };

  it("before a call keeps it from being sent", async () => {
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(client().request("GET", "/payments", { signal })).rejects.toThrow("enough");
    await expect(client().rpc.user.me.query(undefined, { signal })).rejects.toThrow("enough");
    expect(requests).toEqual([]);
  });

  it("ends a call, and the wait before the next attempt, with the signal's reason", async () => {
    const stop = new AbortController();
    const isClosed = new Promise((resolve) => {
      handlers.push((_request, response) => {
        response.on("close", resolve);
        stop.abort(new Error("enough"));
      });
    });
    // A write, which is not sent again: what ends it is its own failure.
    const write = client(PATIENT).request("POST", "/checkout", { body: {}, signal: stop.signal });
    await expect(write).rejects.toThrow("enough");
    await isClosed;
    const later = new AbortController();
    handlers.push((request, response) => {
      refuse(429, "rate_limited", { "retry-after": "1000" })(request, response);
      response.on("close", () => later.abort(new Error("enough")));
    });
    await expect(client(PATIENT).request("GET", "/payments", { signal: later.signal })).rejects.toThrow(
      "enough",
    );
    expect(requests).toHaveLength(2);
  });

  it("ends an RPC mutation, and the wait before the next attempt, with the signal's reason", async () => {
    for (const respond of [() => {}, refuse(429, "rate_limited", { "retry-after": "1000" })]) {
      const stop = new AbortController();
      handlers.push((request, response) => {
        response.on("close", () => stop.abort(new Error("enough")));
        respond(request, response);
        if (!response.writableEnded) stop.abort(new Error("enough"));
      });
      const call = client(PATIENT).rpc.user.updateProfile.mutate({ name: "Ana" }, { signal: stop.signal });
      await expect(call).rejects.toThrow("enough");
    }
    expect(requests).toHaveLength(2);
  });

  it("ends an RPC call, and not those that are sent with it", async () => {
    const stop = new AbortController();
    const { rpc } = client();
    const respond = Promise.withResolvers<void>();
    handlers.push((_request, response) => {
      stop.abort(new Error("enough"));
      const answers = [1, 2].map((count) => ({ result: { data: { json: { count } } } }));
      void respond.promise.then(() => response.end(JSON.stringify(answers)));
    });
    const aborted = rpc.notifications.unreadCount.query({}, { signal: stop.signal });
    const other = rpc.notifications.unreadCount.query();
    await expect(aborted).rejects.toThrow("enough");
    respond.resolve();
    expect(await other).toEqual({ count: 2 });
    expect(requests).toHaveLength(1);
  });
});

it("leaves no timer behind, which would keep a program from ending", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { request } = client({ fetch: async () => Response.json({}) });
  await request("GET", "/payments");
  expect(vi.getTimerCount()).toBe(0);
});

it("has the limits that its options document, and no key unless one is given", () => {
  expect(connectionOf({ url: "https://tollgate.example.com/" })).toEqual({
    baseUrl: "https://tollgate.example.com",
    headers: {},
    maxRetries: 3,
    maxRetryWaitMs: 30_000,
    timeoutMs: 10_000,
    fetch: expect.any(Function),
  });
});

it.each([
  "",
  "tollgate.example.com",
  "localhost:3000",
  "ftp://tollgate.example.com",
  "https:tollgate.example.com",
  "https://ana:secret@tollgate.example.com",
  "https://tollgate.example.com/?key=1",
])("refuses an address that no call could reach, before the first: %j", (address) => {
  expect(() => createTollgate({ url: address })).toThrow(`url: "${address}" is not an address`);
});

it.each(["HTTP://localhost:3000", " https://tollgate.example.com/@billing/ "])(
  "takes an address as it is written: %j",
  (address) => {
    expect(connectionOf({ url: address }).baseUrl).toBe(new URL(address).href.replace(/\/$/, ""));
  },
);

it("backs off exponentially when the server does not say how long", () => {
  const limits = { maxRetries: 10, maxRetryWaitMs: 5_000 };
  const failed = { status: 503, retryAfterSeconds: null, isRepeatable: true };
  const delays = [0, 1, 2, 3, 4, 5].map((attempt) => retryDelayMs({ ...failed, attempt }, limits, 0));
  expect(delays).toEqual([250, 500, 1000, 2000, 4000, null]);
  expect(retryDelayMs({ ...failed, attempt: 0 }, limits, 0.5)).toBe(375);
  expect(retryDelayMs({ ...failed, attempt: 10 }, limits, 0)).toBeNull();
  // Clients that were refused together must not come back at the same moment.
  expect(retryDelayMs({ ...failed, attempt: 0, retryAfterSeconds: 2 }, limits, 0.5)).toBe(2_125);
});

it("waits as long as the server says, up to the longest wait itself", () => {
  const limits = { maxRetries: 1, maxRetryWaitMs: 30_000 };
  const limited = { attempt: 0, status: 429, isRepeatable: false };
  expect(retryDelayMs({ ...limited, retryAfterSeconds: 30 }, limits, 0.5)).toBe(30_125);
  expect(retryDelayMs({ ...limited, retryAfterSeconds: 31 }, limits, 0)).toBeNull();
});

it("leaves out parameters without a value", async () => {
  await client().request("GET", "/payments", { query: { limit: 1, after: undefined } });
  expect(requests).toEqual(["GET /api/v2/payments?limit=1"]);
});

it("has no body to read in the answer to HEAD", async () => {
  expect(await client().request("HEAD", "/payments")).toBeUndefined();
});

it("reads Retry-After as seconds and as a date", () => {
  const read = (value: string) => readRetryAfter(new Headers({ "retry-after": value }));
  expect(read("7")).toBe(7);
  expect(read("-7")).toBe(0);
  expect(read("Thu, 01 Jan 1970 00:00:00 GMT")).toBe(0);
  vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2026-05-06T07:08:09.500Z") });
  onTestFinished(() => void vi.useRealTimers());
  expect(read("Wed, 06 May 2026 07:08:39 GMT")).toBe(29.5);
  expect(read("soon")).toBeNull();
  expect(readRetryAfter(new Headers())).toBeNull();
});
