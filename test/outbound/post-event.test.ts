import type { Socket } from "node:net";
import { afterEach, expect, it } from "vitest";
import { type Address, outboundAllow } from "../../src/outbound/allowed-targets.ts";
import { openEndpointConnections } from "../../src/outbound/endpoint-connections.ts";
import { type PostOptions, postEvent } from "../../src/outbound/post-event.ts";
import { newEndpointSecret, signedHeaders } from "../../src/outbound/sign.ts";
import type { AttemptResult } from "../../src/store/outbound/record-outbound-attempts.ts";
import { eventually } from "../support/eventually.ts";
import { type Receiver, startReceiver } from "./receiver.ts";

const open: Receiver[] = [];
afterEach(async () => {
  for (const receiver of open.splice(0)) await receiver.close();
});

const SECRETS = [newEndpointSecret()];
const BODY = '{"name":"Zoë"}';

async function post(url: string, options: Partial<PostOptions> = {}): Promise<AttemptResult> {
  return postEvent(
    { url, secrets: SECRETS },
    { id: "evt_1", body: BODY },
    { allow: outboundAllow({ hosts: [], ranges: ["127.0.0.0/8"] }), now: Date.now, ...options },
  );
}

async function receiver(...options: Parameters<typeof startReceiver>): Promise<Receiver> {
  const started = await startReceiver(...options);
  open.push(started);
  return started;
}

it("posts the body with a signature over the time of the attempt in whole seconds", async () => {
  const { url, received } = await receiver();
  const startedAt = performance.now();
  const { durationMs, ...result } = await post(url, { now: () => 1_800_000_000_999 });
  expect(result).toEqual({ isDelivered: true, responseStatus: 204, error: null });
  expect(durationMs).toBeGreaterThan(0);
  expect(durationMs).toBeLessThanOrEqual(performance.now() - startedAt);
  expect(received).toMatchObject([
    {
      body: BODY,
      headers: {
        ...signedHeaders(BODY, { id: "evt_1", timestampSeconds: 1_800_000_000, secrets: SECRETS }),
        "content-type": "application/json",
        "content-length": "15",
        "user-agent": "Tollgate",
      },
    },
  ]);
});

it.each([200, 202, 299])("succeeds when the endpoint responds with %d", async (status) => {
  const { url } = await receiver((response) => void response.writeHead(status).end());
  expect(await post(url)).toMatchObject({ isDelivered: true, responseStatus: status, error: null });
});

it.each([300, 304, 400, 410, 500])("fails when the endpoint responds with %d", async (status) => {
  const { url } = await receiver((response) => void response.writeHead(status).end());
  expect(await post(url)).toMatchObject({
    isDelivered: false,
    responseStatus: status,
    error: `the endpoint responded with ${status}`,
  });
});

it("reads 64 KB of a response, and closes the connection when there is more", async () => {
  const { url, received } = await receiver((response) => {
    response.writeHead(200).write(Buffer.alloc(64 * 1024 + 1));
  });
  expect(await post(url)).toMatchObject({ isDelivered: true, responseStatus: 200 });
  await eventually(async () => received[0]?.connection.destroyed, true);
});

it("fails when a response of 64 KB does not end in time", async () => {
  const { url } = await receiver((response) => {
    response.writeHead(200).write(Buffer.alloc(64 * 1024));
  });
  const startedAt = performance.now();
  const result = await post(url, { timeoutMs: 500 });
  expect(result).toMatchObject({
    isDelivered: false,
    responseStatus: null,
    error: "no response within 0.5 s",
  });
  expect(result.durationMs).toBeLessThanOrEqual(performance.now() - startedAt);
});

it("fails when the endpoint closes the connection before its response has ended", async () => {
  const { url } = await receiver((response, { connection }) => {
    response.writeHead(200, { "content-length": 10 }).write("half", () => connection.destroy());
  });
  expect(await post(url)).toMatchObject({ isDelivered: false, responseStatus: null, error: "aborted" });
});

it("fails with the cause when no connection can be made", async () => {
  // Nothing listens on port 9; a port that has just been freed may be taken by another test.
  expect(await post("http://127.0.0.1:9/hook")).toMatchObject({
    error: expect.stringMatching(/^connect ECONNREFUSED /),
  });
  const resolve: PostOptions["resolve"] = async () => [
    { address: "127.0.0.1", family: 4 },
    { address: "127.0.0.2", family: 4 },
  ];
  expect(await post("http://several.invalid:9/hook", { resolve })).toMatchObject({
    isDelivered: false,
    responseStatus: null,
    error: "ECONNREFUSED",
  });
});

it.each([
  ["ftp://127.0.0.1/hook", "the URL is not allowed"],
  ["https://10.0.0.1/hook", "the URL leads to an address that is not public"],
  ["https://nobody.invalid/hook", "the name of the host has no address"],
])("does not post to %s: %s", async (url, error) => {
  expect(await post(url, { resolve: async () => [] })).toMatchObject({
    isDelivered: false,
    responseStatus: null,
    error,
  });
});

it("opens a connection for each event unless connections are kept open", async () => {
  const { url, received } = await receiver();
  for (let n = 0; n < 2; n += 1) await post(url);
  const [first, second] = received;
  expect(second?.connection).not.toBe(first?.connection);
});

it("sends an event again on a new connection when the endpoint has closed all that were kept open", async () => {
  const known = new Set<Socket>();
  let isClosing = false;
  const { promise: bothCame, resolve: cameBoth } = Promise.withResolvers<void>();
  const { url, received } = await receiver(async (response, { connection }) => {
    if (isClosing && known.has(connection)) return void connection.destroy();
    known.add(connection);
    if (known.size === 2) cameBoth();
    await bothCame;
    response.writeHead(204).end();
  });
  const connections = openEndpointConnections();
  await Promise.all([post(url, { connections }), post(url, { connections })]);
  isClosing = true;
  expect(await post(url, { connections })).toMatchObject({ isDelivered: true });
  expect(received).toHaveLength(4);
  expect(known.size).toBe(3);
  connections.close();
});

it("fails when the endpoint switches protocols instead of responding, and closes the connection", async () => {
  const { url, received } = await receiver((_response, { connection }) => {
    connection.write("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n");
  });
  expect(await post(url)).toMatchObject({
    isDelivered: false,
    responseStatus: 101,
    error: "the endpoint responded with 101",
  });
  await eventually(async () => received[0]?.connection.destroyed, true);
});

it("tries the next address of a name when one cannot be reached", async () => {
  const { url } = await receiver();
  const { port } = new URL(url);
  const resolve: PostOptions["resolve"] = async () => [
    { address: "127.0.0.2", family: 4 },
    { address: "127.0.0.1", family: 4 },
  ];
  expect(await post(`http://several.invalid:${port}/hook`, { resolve })).toMatchObject({ isDelivered: true });
});

it("reuses a connection when the addresses of a name come in another order", async () => {
  const { url, received } = await receiver();
  const { port } = new URL(url);
  const addresses: Address[] = [
    { address: "127.0.0.2", family: 4 },
    { address: "127.0.0.1", family: 4 },
  ];
  const connections = openEndpointConnections();
  for (const order of [addresses, addresses.toReversed()])
    await post(`http://several.invalid:${port}/hook`, { connections, resolve: async () => order });
  connections.close();
  const [first, second] = received;
  expect(second?.connection).toBe(first?.connection);
});

it("fails when the name of the host is not resolved in time", async () => {
  const resolve = () => new Promise<never>(() => {});
  expect(await post("https://example.com/hook", { timeoutMs: 100, resolve })).toMatchObject({
    isDelivered: false,
    responseStatus: null,
    error: "no response within 0.1 s",
  });
});
