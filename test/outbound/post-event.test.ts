import { afterEach, expect, it } from "vitest";
import { type Address, outboundAllow } from "../../src/outbound/allowed-targets.ts";
import { openEndpointConnections } from "../../src/outbound/endpoint-connections.ts";
import { type PostOptions, postEvent } from "../../src/outbound/post-event.ts";
import { newEndpointSecret } from "../../src/outbound/sign.ts";
import type { AttemptResult } from "../../src/store/record-outbound-attempts.ts";
import { type Receiver, startReceiver } from "./receiver.ts";

const open: Receiver[] = [];
afterEach(async () => {
  for (const receiver of open.splice(0)) await receiver.close();
});

async function post(url: string, options: Partial<PostOptions> = {}): Promise<AttemptResult> {
  return postEvent(
    { url, secrets: [newEndpointSecret()] },
    { id: "evt_1", body: "{}" },
    { allow: outboundAllow({ hosts: [], ranges: ["127.0.0.0/8"] }), now: Date.now, ...options },
  );
}

it("fails when the endpoint switches protocols instead of responding", async () => {
  const receiver = await startReceiver((_response, { connection }) => {
    connection.write("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n");
  });
  open.push(receiver);
  expect(await post(receiver.url)).toMatchObject({
    isDelivered: false,
    responseStatus: 101,
    error: "the endpoint responded with 101",
  });
});

it("tries the next address of a name when one cannot be reached", async () => {
  const receiver = await startReceiver();
  open.push(receiver);
  const { port } = new URL(receiver.url);
  const resolve: PostOptions["resolve"] = async () => [
    { address: "127.0.0.2", family: 4 },
    { address: "127.0.0.1", family: 4 },
  ];
  expect(await post(`http://several.invalid:${port}/hook`, { resolve })).toMatchObject({ isDelivered: true });
});

it("reuses a connection when the addresses of a name come in another order", async () => {
  const receiver = await startReceiver();
  open.push(receiver);
  const { port } = new URL(receiver.url);
  const addresses: Address[] = [
    { address: "127.0.0.2", family: 4 },
    { address: "127.0.0.1", family: 4 },
  ];
  const connections = openEndpointConnections();
  for (const order of [addresses, addresses.toReversed()])
    await post(`http://several.invalid:${port}/hook`, { connections, resolve: async () => order });
  connections.close();
  const [first, second] = receiver.received;
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
