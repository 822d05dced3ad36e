import { once } from "node:events";
import { Agent, type IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { BodyBudget } from "../../src/http/body-budget.ts";
import {
  BodyAborted,
  BodyTooLarge,
  countBody,
  readBody,
  readBodyOrRefuse,
} from "../../src/http/read-body.ts";
import { type LocalServer, sendRequest, startHttpServer } from "../support/http.ts";
import { openRawConnection } from "../support/raw-connection.ts";

let server: LocalServer | undefined;
afterEach(() => server?.close());

/** What reading the body of this request results in, its connection being open until the reader closes it. */
async function resultOf(
  request: string,
  read: (incoming: IncomingMessage, disconnect: () => void) => Promise<Buffer>,
): Promise<unknown> {
  const { promise: result, resolve } = Promise.withResolvers<unknown>();
  let disconnect = () => {};
  server = await startHttpServer((incoming) => {
    read(incoming, () => disconnect()).then((body) => resolve(body.toString()), resolve);
  });
  const { socket } = openRawConnection(server.url, request);
  disconnect = () => socket.destroy();
  const settled = await result;
  socket.destroy();
  return settled;
}

const HEAD = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n";

describe("readBody", () => {
  it("reads a body that arrives in pieces, in their order", async () => {
    const chunked = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
    const request = `${chunked}2\r\nab\r\n2\r\ncd\r\n1\r\ne\r\n0\r\n\r\n`;
    expect(await resultOf(request, (incoming) => readBody(incoming, 5))).toBe("abcde");
  });

  const arriving = () => Object.assign(new PassThrough(), { headers: {}, complete: true });

  it("no longer counts bodies that have been read, and lets a slow one arrive", async () => {
    const read = (body: PassThrough) => readBody(body as unknown as IncomingMessage, 1024 * 1024);
    const slow = arriving();
    const reading = read(slow);
    slow.write("a");
    for (let n = 0; n < 65; n += 1) {
      const body = arriving();
      body.end(Buffer.alloc(1024 * 1024));
      expect(await read(body)).toHaveLength(1024 * 1024);
    }
    slow.end("b");
    expect((await reading).toString()).toBe("ab");
  });

  it("no longer counts bodies that have broken off or were too large", async () => {
    const read = (body: PassThrough, maxBytes: number) =>
      readBody(body as unknown as IncomingMessage, maxBytes);
    const slow = arriving();
    const reading = read(slow, 2);
    slow.write("a");
    for (let n = 0; n < 65; n += 1) {
      const [cut, large] = [arriving(), arriving()];
      const results = [read(cut, 2 ** 20), read(large, 2 ** 20)].map((result) =>
        result.catch((error) => error),
      );
      cut.write(Buffer.alloc(2 ** 20));
      large.write(Buffer.alloc(2 ** 19));
      large.write(Buffer.alloc(2 ** 20));
      cut.destroy(new Error("aborted"));
      expect(await Promise.all(results)).toEqual([expect.any(BodyAborted), expect.any(BodyTooLarge)]);
    }
    slow.end("b");
    expect((await reading).toString()).toBe("ab");
  });

  it("refuses a body as unavailable when those that arrive take too much memory", async () => {
    const [slow, large] = [arriving(), arriving()];
    const reading = [slow, large].map((body) =>
      readBodyOrRefuse(body as unknown as IncomingMessage, 2 ** 26).catch((error: unknown) => error),
    );
    slow.write("a");
    large.end(Buffer.alloc(2 ** 26));
    expect(await Promise.all(reading)).toMatchObject([{ code: "unavailable" }, { length: 2 ** 26 }]);
  });

  it("fails when the client goes before the rest has arrived", async () => {
    const result = await resultOf(`${HEAD}he`, async (incoming, disconnect) => {
      const reading = readBody(incoming, 5);
      incoming.once("data", disconnect);
      return reading;
    });
    expect(result).toBeInstanceOf(BodyAborted);
  });

  it.each([
    ["half of it", "he"],
    ["all of it", "hello"],
  ])("fails when the client has gone before it is read, after %s has arrived", async (_, body) => {
    const result = await resultOf(HEAD + body, async (incoming, disconnect) => {
      const closed = once(incoming, "close");
      while (incoming.readableLength < body.length) await nextTurn();
      disconnect();
      await closed.catch(() => {});
      return readBody(incoming, 5);
    });
    expect(result).toBeInstanceOf(BodyAborted);
  });
});

describe("countBody", () => {
  const post = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 60\r\n\r\n";

  it("counts a body until it has been read, or its request has ended", async () => {
    const budget = new BodyBudget(100);
    server = await startHttpServer((incoming, outgoing) => {
      countBody(incoming, budget);
      // Every other body is left unread.
      if (incoming.url === "/read") incoming.resume().once("end", () => outgoing.end());
      else outgoing.end();
    });
    // One connection, which would be closed.
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (const path of ["/read", "/", "/read", "/"]) {
      const { status } = await sendRequest(server.url, "POST", path, { body: Buffer.alloc(60, "x"), agent });
      expect(status).toBe(200);
    }
    agent.destroy();
  });

  it("counts nothing of a request that has ended", async () => {
    const budget = new BodyBudget(50);
    const [ended, counted] = [new PassThrough(), new PassThrough()];
    ended.push(Buffer.alloc(51));
    countBody(counted as unknown as IncomingMessage, budget);
    for (const body of [ended, counted]) {
      body.destroy();
      await once(body, "close");
    }
    // Its connection would be closed, of which there is none.
    expect(() => countBody(ended as unknown as IncomingMessage, budget)).not.toThrow();
    expect(() => counted.push(Buffer.alloc(51))).not.toThrow();
  });

  it("counts what has arrived while another request was answered", async () => {
    const budget = new BodyBudget(50);
    server = await startHttpServer((incoming) => {
      const waiting = setInterval(() => {
        if (incoming.readableLength < 59) return;
        clearInterval(waiting);
        countBody(
          incoming.on("error", () => {}),
          budget,
        );
      }, 1);
    });
    const connection = openRawConnection(server.url, `${post}${"x".repeat(59)}`);
    await connection.closed;
    expect(connection.isClosed).toBe(true);
  });

  it("closes the connection of the oldest when all together are too large", async () => {
    const budget = new BodyBudget(100);
    server = await startHttpServer((incoming) =>
      countBody(
        incoming.on("error", () => {}),
        budget,
      ),
    );
    const first = openRawConnection(server.url, `${post}${"x".repeat(59)}`);
    await once(first.socket, "connect");
    const second = openRawConnection(server.url, `${post}${"x".repeat(59)}`);
    await Promise.race([first.closed, second.closed]);
    expect([first.isClosed, second.isClosed].filter(Boolean)).toHaveLength(1);
    for (const { socket } of [first, second]) socket.destroy();
  });
});
