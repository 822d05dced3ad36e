import { readdir } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { builtPages } from "../../support/built-pages.ts";
import { sendRequest } from "../../support/http.ts";
import { openRawConnection } from "../../support/raw-connection.ts";
import { type ServerProcess, spawnServer } from "../../support/server-process.ts";
import { testDatabase } from "../../support/test-database.ts";
import { GENEROUS_LIMITS } from "../../support/variables.ts";

const test = testDatabase();
beforeAll(async () => {
  await builtPages();
}, 180_000);

async function serverWithPages(variables: Record<string, string> = {}): Promise<ServerProcess> {
  const server = await spawnServer(test.url, { ...GENEROUS_LIMITS, ...variables });
  // Next.js is loaded by the first page.
  expect((await fetch(`${server.url}/`)).status).toBe(200);
  return server;
}

const H2C =
  "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n";
const WEBSOCKET =
  "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

describe("connections that ask for an upgrade", () => {
  it("are answered like others, and do not delay shutdown", async () => {
    const server = await serverWithPages();
    const clients = ["/api/health", "/api/webhooks/provider-a", "/sign-in"].flatMap((path) =>
      [H2C, WEBSOCKET].map((headers) =>
        openRawConnection(server.url, `GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`),
      ),
    );
    await vi.waitFor(
      () =>
        expect(clients.map(({ received }) => received.slice(0, 12))).toEqual([
          ...Array(2).fill("HTTP/1.1 200"),
          ...Array(2).fill("HTTP/1.1 405"),
          ...Array(2).fill("HTTP/1.1 200"),
        ]),
      { timeout: 30_000 },
    );
    expect(await server.end("SIGTERM")).toEqual({ code: 0, signal: null });
  });
});

it("keeps no descriptors of clients that asked for an upgrade and have gone", async () => {
  const server = await serverWithPages();
  const descriptors = async () => (await readdir(`/proc/${server.child.pid}/fd`)).length;
  const before = await descriptors();
  const clients = Array.from({ length: 100 }, (_, n) =>
    openRawConnection(server.url, `GET /api/health HTTP/1.1\r\nHost: x\r\n${n % 2 ? H2C : WEBSOCKET}\r\n`),
  );
  await vi.waitFor(() => expect(clients.every(({ received }) => received !== "")).toBe(true), {
    timeout: 60_000,
  });
  for (const client of clients) client.socket.destroy();
  await vi.waitFor(async () => expect(await descriptors()).toBeLessThan(before + 50), { timeout: 60_000 });
  expect(await server.end("SIGTERM")).toEqual({ code: 0, signal: null });
});

describe("a stopping server", () => {
  it("ends by itself beside requests that never finish", async () => {
    const server = await serverWithPages();
    const beginnings = [
      "POST /api/webhooks/provider-a HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n1",
      "POST /sign-in HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n\r\n1",
      "GET /api/health HTTP/1.1\r\nHost: x\r\nX-Slow: ",
      `POST /api/chat HTTP/1.1\r\nHost: x\r\n${H2C}Content-Length: 9\r\n\r\n1`,
      `GET /sign-in HTTP/1.1\r\nHost: x\r\n${WEBSOCKET}\r\n`,
      "",
    ];
    const clients = beginnings.map((beginning) => openRawConnection(server.url, beginning));
    await vi.waitFor(
      async () => expect((await sendRequest(server.url, "GET", "/api/health")).status).toBe(200),
      {
        timeout: 30_000,
      },
    );
    expect(await server.end("SIGTERM")).toEqual({ code: 0, signal: null });
    await vi.waitFor(() => expect(clients.every(({ isClosed }) => isClosed)).toBe(true), { timeout: 30_000 });
  });

  it("exits at once on a second signal", async () => {
    const server = await serverWithPages();
    const client = openRawConnection(
      server.url,
      "POST /api/webhooks/provider-a HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n1",
    );
    await vi.waitFor(
      async () => expect((await sendRequest(server.url, "GET", "/api/health")).status).toBe(200),
      {
        timeout: 30_000,
      },
    );
    server.child.kill("SIGTERM");
    await vi.waitFor(() => expect(server.lines.join()).toContain('"stopping"'), { timeout: 30_000 });
    // Within a second, it counts as the same signal.
    await sleep(1_500);
    expect(await server.end("SIGTERM")).toEqual({ code: 1, signal: null });
    client.socket.destroy();
  });
});

describe("unusual requests", () => {
  let server: ServerProcess;
  beforeAll(async () => {
    server = await serverWithPages();
  }, 60_000);
  afterAll(async () => {
    await server.end("SIGTERM");
  });

  it.each(["/api/auth/get-session", "/api/health", "/", "/settings"])(
    "return 400 for credentials in an absolute target: %s",
    async (path) => {
      const client = openRawConnection(
        server.url,
        `GET http://user:password@host${path} HTTP/1.1\r\nHost: x\r\n\r\n`,
      );
      await vi.waitFor(() => expect(client.isClosed).toBe(true), { timeout: 30_000 });
      expect(client.received).toMatch(/^HTTP\/1\.1 400 /);
      expect(client.received).toMatch(/x-api-version: v1/i);
    },
  );

  it("return 400 with X-API-Version and X-Request-Id for invalid HTTP", async () => {
    const client = openRawConnection(server.url, "NONSENSE\r\n\r\n");
    await vi.waitFor(() => expect(client.isClosed).toBe(true), { timeout: 30_000 });
    expect(client.received).toMatch(
      /^HTTP\/1\.1 400 [\s\S]*x-request-id: [0-9a-f-]{36}\r\nx-api-version: v1\r\n/i,
    );
  });

  it.each(["keep-alive", "close"])(
    "return 413 for a webhook of 3 MB with Connection: %s",
    async (connection) => {
      const body = Buffer.alloc(3 * 1024 * 1024, 0x20);
      const head = `POST /api/webhooks/provider-a HTTP/1.1\r\nHost: x\r\nConnection: ${connection}\r\nContent-Length: ${body.length}\r\n\r\n`;
      for (let n = 0; n < 20; n += 1) {
        const client = openRawConnection(server.url, Buffer.concat([Buffer.from(head), body]));
        await vi.waitFor(() => expect(client.received + client.isClosed).toMatch(/Payload too large|true/), {
          timeout: 30_000,
        });
        expect(client.received).toMatch(/^HTTP\/1\.1 413 /);
        client.socket.destroy();
      }
    },
  );

  it("do not resize images", async () => {
    const response = await fetch(`${server.url}/_next/image?url=%2Ficon.svg&w=64&q=75`);
    expect(response.status).toBe(404);
  });

  it("are logged with line breaks escaped", async () => {
    const forged = '%0a{"level":50,"msg":"forged"}';
    await fetch(`${server.url}/_next/image?url=${forged}&w=64&q=75`);
    for (let n = 0; n < 30; n += 1) {
      await fetch(`${server.url}/sign-in`, {
        method: "POST",
        headers: { "next-action": `${"0".repeat(40)}${n}`, "content-type": "text/plain;charset=UTF-8" },
        body: "[]",
      });
    }
    const parsed = server.lines.map((line) => JSON.parse(line) as { msg: string });
    expect(parsed.filter(({ msg }) => msg === "forged")).toEqual([]);
    expect(parsed.length).toBeLessThan(50);
  });
});

describe("bodies that never end", () => {
  it("are dropped beyond 64 MB in all, oldest first", async () => {
    const server = await spawnServer(test.url, { ...GENEROUS_LIMITS });
    const head = "POST /api/webhooks/provider-a HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n";
    const part = Buffer.concat([Buffer.from(head), Buffer.alloc(900_000, 0x20)]);
    const clients = Array.from({ length: 120 }, () => openRawConnection(server.url, part));
    const answered = () => clients.filter(({ received }) => received.startsWith("HTTP/1.1 503 ")).length;
    await vi.waitFor(() => expect(answered()).toBeGreaterThanOrEqual(120 - 75), { timeout: 30_000 });
    expect((await sendRequest(server.url, "GET", "/api/health")).status).toBe(200);
    for (const client of clients) client.socket.destroy();
    await server.end("SIGTERM");
  });

  it("are counted together with those of pages", async () => {
    const server = await spawnServer(test.url, { ...GENEROUS_LIMITS });
    const unfinished = (path: string, type: string, bytes: number) =>
      Buffer.concat([
        Buffer.from(
          `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\nContent-Length: ${bytes + 1}\r\n\r\n`,
        ),
        Buffer.alloc(bytes, 0x20),
      ]);
    const delivery = unfinished("/api/webhooks/provider-a", "application/json", 950_000);
    const form = unfinished("/sign-in", "multipart/form-data; boundary=x", 65_000);
    // 66.5 of 67.1 million bytes, then 3.9 million more.
    const deliveries = Array.from({ length: 70 }, () => openRawConnection(server.url, delivery));
    const forms = Array.from({ length: 60 }, () => openRawConnection(server.url, form));
    const answered = () => deliveries.filter(({ received }) => received.startsWith("HTTP/1.1 503 ")).length;
    await vi.waitFor(() => expect(answered()).toBeGreaterThanOrEqual(1), { timeout: 10_000 });
    for (const { socket } of [...deliveries, ...forms]) socket.destroy();
    await server.end("SIGTERM");
  });
});

describe("expensive requests without an account", () => {
  it("charges pages and wrong keys to the client's address, and answers 429 beyond the limit", async () => {
    const server = await spawnServer(test.url, { RATE_LIMIT_PAGES: "3/60", RATE_LIMIT_AUTH_KEY: "3/60" });
    const statuses = async (path: string, headers: Record<string, string> = {}) => {
      const all: (string | null)[] = [];
      for (let n = 0; n < 4; n += 1) {
        const response = await fetch(server.url + path, { headers });
        all.push(`${response.status} ${response.headers.get("x-ratelimit-remaining")}`);
      }
      return all;
    };
    expect(await statuses("/sign-in")).toEqual(["200 2", "200 1", "200 0", "429 0"]);
    const refused = await fetch(`${server.url}/sign-in`);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    const wrong = { authorization: `Bearer tg_${"x".repeat(40)}` };
    expect(await statuses("/api/users/me", wrong)).toEqual(["401 2", "401 1", "401 0", "429 0"]);
    await server.end("SIGTERM");
  });
});
