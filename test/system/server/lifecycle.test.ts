import { request } from "node:http";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { numberedEvent } from "../../fixtures/numbered-event.ts";
import { builtPages } from "../../support/built-pages.ts";
import { freshDatabase } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { deliverWebhook, sendRequest } from "../../support/http.ts";
import { expectEachAppliedOnce } from "../../support/ledger.ts";
import { createUser } from "../../support/people.ts";
import { findServerAction, formBody } from "../../support/server-action.ts";
import { spawnServer } from "../../support/server-process.ts";
import { testDatabase } from "../../support/test-database.ts";
import { SECRETS } from "../../support/variables.ts";

const test = testDatabase();

describe("the server", () => {
  it("answers health and ready", async () => {
    const server = await spawnServer(test.url);
    const getJson = async (path: string) => {
      const response = await fetch(server.url + path);
      expect(response.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
      return [response.status, await response.json()];
    };
    expect(await getJson("/api/health")).toEqual([200, { status: "ok" }]);
    expect(await getJson("/api/ready")).toEqual([200, { status: "ready" }]);
    expect(await getJson("/api/nothing")).toEqual([404, { error: "Not found" }]);
    await server.end("SIGTERM");
  });

  it("is not ready while its database is unreachable", async () => {
    const gate = await proxyTo(new URL(test.url));
    const server = await spawnServer(gate.url, { WEBHOOK_LEASE_SECONDS: "3" });
    gate.cut();
    expect((await sendRequest(server.url, "GET", "/api/ready")).status).toBe(503);
    expect((await sendRequest(server.url, "GET", "/api/health")).status).toBe(200);
    expect((await deliverWebhook(server.url, "provider-a", numberedEvent("away", 0))).status).toBe(503);
    await gate.mend();
    expect((await sendRequest(server.url, "GET", "/api/ready")).status).toBe(200);
    expect((await deliverWebhook(server.url, "provider-a", numberedEvent("away", 0))).status).toBe(200);
    await server.end("SIGTERM");
    gate.cut();
  });

  it("is not ready while its database takes no writes, and again as soon as it does", async () => {
    const readOnly = await freshDatabase();
    const server = await spawnServer(readOnly.url);
    const statuses = async () => [
      (await sendRequest(server.url, "GET", "/api/ready")).status,
      (await deliverWebhook(server.url, "provider-a", numberedEvent("read-only", 0))).status,
    ];
    // As hosts do when the disk is full; a standby behaves the same.
    const name = new URL(readOnly.url).pathname.slice(1);
    await test.rows(`alter database ${name} set default_transaction_read_only = on`);
    await endConnectionsTo(name);
    await eventually(statuses, [503, 503]);
    await test.rows(`alter database ${name} reset default_transaction_read_only`);
    await eventually(async () => (await sendRequest(server.url, "GET", "/api/ready")).status, 200);
    expect(await statuses()).toEqual([200, 200]);
    await server.end("SIGTERM");
    await readOnly.drop();
  });

  it("returns 400 for a bad signature while its database is unreachable", async () => {
    const gate = await proxyTo(new URL(test.url));
    const server = await spawnServer(gate.url);
    gate.cut();
    const { rawBody, headers } = numberedEvent("forged", 0);
    const forged = {
      ...headers,
      "stripe-signature": `t=${Math.floor(Date.now() / 1000)},v1=${"0".repeat(64)}`,
    };
    for (const wrong of [forged, { "content-type": "application/json" }]) {
      const response = await deliverWebhook(server.url, "provider-a", { rawBody, headers: wrong });
      expect([response.status, response.body]).toEqual([400, { error: "Invalid signature" }]);
    }
    expect((await deliverWebhook(server.url, "provider-a", { rawBody, headers })).status).toBe(503);
    await server.end("SIGTERM");
  });

  it("returns 503 when the database stops answering", async () => {
    const gate = await proxyTo(new URL(test.url));
    // With timeouts of the database that are longer than this test waits for a response.
    const server = await spawnServer(gate.url, { WEBHOOK_LEASE_SECONDS: "600" });
    expect((await deliverWebhook(server.url, "provider-a", numberedEvent("silent", 0))).status).toBe(200);
    gate.hold();
    const response = await deliverWebhook(server.url, "provider-a", numberedEvent("silent", 1));
    expect(response.status).toBe(503);
    // Not a minute later, when the database is given up: no provider waits so long.
    const isInTime = async () => server.lines.some((line) => line.includes("could not be processed in time"));
    await eventually(isInTime, true);
    await server.end("SIGKILL");
    gate.cut();
  });

  it("is not ready from SIGTERM on, and still answers", async () => {
    // It accepts connections for seconds then, even if this process stalls between two of them.
    const server = await spawnServer(test.url, { TRUSTED_PROXIES: "1" });
    const stoppedAt = performance.now();
    const ended = server.end("SIGTERM");
    const statuses = async () => [
      (await sendRequest(server.url, "GET", "/api/ready")).status,
      (await sendRequest(server.url, "GET", "/api/health")).status,
    ];
    await eventually(statuses, [503, 200]);
    expect((await ended).code).toBe(0);
    // As long as the load balancer in front of it takes to notice.
    expect(performance.now() - stoppedAt).toBeGreaterThan(2_900);
  });

  it("finishes running requests on SIGTERM and exits 0", async () => {
    const server = await spawnServer(test.url);
    const running = Array.from({ length: 50 }, (_, n) =>
      slowPost(`${server.url}/api/webhooks/provider-a`, numberedEvent("drain", n)),
    );
    await Promise.all(running.map(({ begun }) => begun));
    const ended = server.end("SIGTERM");
    await eventually(() => refusesConnections(server.url), true);
    for (const { finish } of running) finish();
    expect(await Promise.all(running.map(({ status }) => status))).toEqual(Array(50).fill(200));
    expect(await ended).toEqual({ code: 0, signal: null });
    await expectEachAppliedOnce(test, "drain", 50);
  });

  it("finishes a form that is being sent at SIGTERM", async () => {
    await builtPages();
    const person = await createUser(test, "Before The Stop");
    const server = await spawnServer(test.url);
    // Pages are loaded by the first request for one.
    expect((await sendRequest(server.url, "GET", "/settings", { cookie: person.cookie })).status).toBe(200);
    const encoded = new Response(formBody(findServerAction("updateProfile"), { name: "After The Stop" }));
    const form = slowPost(`${server.url}/settings`, {
      rawBody: Buffer.from(await encoded.arrayBuffer()),
      headers: { "content-type": encoded.headers.get("content-type") ?? "", cookie: person.cookie },
    });
    await form.begun;
    const ended = server.end("SIGTERM");
    await eventually(() => refusesConnections(server.url), true);
    form.finish();
    expect(await form.status).toBeLessThan(400);
    const [stored] = await test.rows(`select name from "user" where id = $1`, [person.id]);
    expect(stored).toEqual({ name: "After The Stop" });
    expect(await ended).toEqual({ code: 0, signal: null });
  });

  it("logs JSON lines without payloads, secrets or signatures", async () => {
    const server = await spawnServer(test.url, { LOG_LEVEL: "debug" });
    const good = numberedEvent("logged", 0);
    await deliverWebhook(server.url, "provider-a", good);
    await deliverWebhook(server.url, "provider-a", {
      ...good,
      headers: { "stripe-signature": `t=${Math.floor(Date.now() / 1000)},v1=${"beef".repeat(16)}` },
    });
    const strangers = numberedEvent("logged", 999, 1_000);
    expect((await deliverWebhook(server.url, "provider-a", strangers)).status).toBe(500);
    await server.end("SIGTERM");
    for (const line of server.lines) expect(() => JSON.parse(line)).not.toThrow();
    const text = server.lines.join("\n");
    for (const secret of [
      ...Object.values(SECRETS),
      "price_team_monthly",
      "customer.subscription",
      "user_999",
      "beef",
    ]) {
      expect(text).not.toContain(secret);
    }
    expect(text).toContain('"requestId"');
    expect(text).toContain("no signature matches a secret");
  });

  it("fails with one line when its port is in use", async () => {
    const server = await spawnServer(test.url);
    const { port } = new URL(server.url);
    await expect(spawnServer(test.url, { PORT: port })).rejects.toThrow("EADDRINUSE");
    await server.end("SIGTERM");
  });
});

/** A request whose body is sent on demand. `begun`: the server has its head, and waits for the body. */
function slowPost(
  url: string,
  { rawBody, headers }: { rawBody: Buffer; headers: Readonly<Record<string, string>> },
) {
  const outgoing = request(url, {
    method: "POST",
    headers: { ...headers, "content-length": rawBody.length, expect: "100-continue" },
  });
  const status = new Promise<number>((resolve, reject) => {
    outgoing.on("response", (incoming) => {
      incoming.resume();
      resolve(incoming.statusCode ?? 0);
    });
    outgoing.on("error", reject);
  });
  const continued = new Promise<void>((resolve) => outgoing.once("continue", resolve));
  outgoing.flushHeaders();
  return { begun: continued, status, finish: () => outgoing.end(rawBody) };
}

async function endConnectionsTo(database: string): Promise<void> {
  await test.rows("select pg_terminate_backend(pid) from pg_stat_activity where datname = $1", [database]);
}

function refusesConnections(serverUrl: string): Promise<boolean> {
  return fetch(`${serverUrl}/api/health`).then(
    () => false,
    () => true,
  );
}

/** Stands between server and database, to be cut and mended. */
async function proxyTo(database: URL) {
  const open = new Set<Socket>();
  const listen = () => {
    const proxy = createServer((client) => {
      const upstream = connect(Number(database.port), database.hostname);
      for (const socket of [client, upstream]) {
        open.add(socket);
        socket.on("error", () => {});
        socket.on("close", () => {
          client.destroy();
          upstream.destroy();
        });
      }
      client.pipe(upstream).pipe(client);
    });
    return proxy;
  };
  let proxy = listen();
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const { port } = proxy.address() as AddressInfo;
  const url = new URL(database);
  url.port = String(port);
  return {
    url: url.href,
    cut: () => {
      proxy.close();
      for (const socket of open) socket.destroy();
      open.clear();
    },
    hold: () => {
      for (const socket of open) socket.unpipe().pause();
    },
    mend: () => {
      proxy = listen();
      return new Promise<void>((resolve) => proxy.listen(port, "127.0.0.1", resolve));
    },
  };
}
