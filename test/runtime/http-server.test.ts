import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { limitPipelining } from "../../src/http/limit-pipelining.ts";
import { prepareDrain } from "../../src/runtime/drain-server.ts";
import { createHttpServer } from "../../src/runtime/http-server.ts";
import { eventually } from "../support/eventually.ts";
import { openRawConnection } from "../support/raw-connection.ts";

const servers: Server[] = [];
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

async function listen(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((listens) => server.listen(0, "127.0.0.1", listens));
  return (server.address() as AddressInfo).port;
}

function send(port: number, text: string) {
  const connection = openRawConnection(`http://127.0.0.1:${port}`, text);
  sockets.push(connection.socket);
  return connection;
}

/** Indexes of what a client in another thread reports. */
const [CONNECTED, BYTES] = [0, 1];
const CLIENT = `
  const { port, request, received } = require("node:worker_threads").workerData;
  const socket = require("node:net").connect(port, "127.0.0.1", () => {
    socket.write(request);
    Atomics.store(received, ${CONNECTED}, 1);
    Atomics.notify(received, ${CONNECTED});
  });
  socket.on("data", (data) => Atomics.add(received, ${BYTES}, data.length));
  socket.on("error", () => {});
`;

const GET = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

describe("limitPipelining", () => {
  it("handles a connection's requests one after another, and answers all", async () => {
    let running = 0;
    let most = 0;
    const port = await listen(
      createServer(
        limitPipelining(async (_, outgoing) => {
          running += 1;
          most = Math.max(most, running);
          await sleep(1);
          running -= 1;
          outgoing.end("done");
        }),
      ),
    );
    const client = send(port, GET.repeat(60));
    const answered = (requests: number) =>
      vi.waitFor(() => expect(client.received.split("HTTP/1.1 200").length - 1).toBe(requests), {
        timeout: 30_000,
      });
    await answered(60);
    expect(most).toBe(1);
    client.socket.write(GET);
    await answered(61);
  });

  it("closes a connection that pipelines too many requests, without handling them", async () => {
    let handled = 0;
    const port = await listen(
      createServer(
        limitPipelining(() => {
          handled += 1;
        }),
      ),
    );
    const client = send(port, GET.repeat(1_000));
    await vi.waitFor(() => expect(client.isClosed).toBe(true), { timeout: 30_000 });
    expect(handled).toBe(1);
  });
});

describe("createHttpServer", () => {
  it.each([
    [
      "h2c",
      "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n",
    ],
    ["websocket", "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\n"],
  ])("answers a request with %s like one without", async (_, headers) => {
    const port = await listen(
      createHttpServer(
        (_, outgoing) => outgoing.end("answer"),
        () => {},
      ),
    );
    const client = send(port, `GET / HTTP/1.1\r\nHost: x\r\n${headers}\r\n`);
    await vi.waitFor(() => expect(client.received).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*answer$/), {
      timeout: 30_000,
    });
  });

  it("limits connections, and the time for headers and bodies to arrive", async () => {
    const server = createHttpServer(
      () => {},
      () => {},
    );
    expect(server).toMatchObject({ headersTimeout: 15_000, requestTimeout: 15_000 });
    // As many as the system allows open files for, on a small machine.
    expect(server.maxConnections).toBeGreaterThan(0);
    expect(server.maxConnections).toBeLessThanOrEqual(8_192);
  });

  /** Stands for the minute. A shorter `server.timeout` would also close a connection that a busy machine has only just accepted. */
  const withShortTimeout = ({ socket }: ServerResponse) => socket?.setTimeout(100);

  it("closes the connection of a client that stops reading its response for a minute", async () => {
    const server = createHttpServer(
      (_, outgoing) => {
        withShortTimeout(outgoing);
        outgoing.end(Buffer.alloc(64 * 1024 * 1024));
      },
      () => {},
    );
    expect(server.timeout).toBe(60_000);
    const client = send(await listen(server), GET);
    client.socket.pause();
    await once(server, "request");
    const open = promisify(server.getConnections.bind(server));
    await vi.waitFor(async () => expect(await open()).toBe(0), { timeout: 30_000 });
  });

  it("keeps the connection of a client that waits for its response, or for the rest of it", async () => {
    const server = createHttpServer(
      async (_, outgoing) => {
        withShortTimeout(outgoing);
        await sleep(500);
        outgoing.write("begun, ");
        await sleep(500);
        outgoing.end("ended");
      },
      () => {},
    );
    const client = send(await listen(server), GET);
    await vi.waitFor(() => expect(client.received).toMatch(/begun, [\s\S]*ended/), { timeout: 30_000 });
  });

  it("keeps an idle connection longer than the proxies in front of it do", async () => {
    const server = createHttpServer(
      (_, outgoing) => outgoing.end(),
      () => {},
    );
    const client = send(await listen(server), GET);
    await vi.waitFor(() => expect(client.received).toContain("Keep-Alive: timeout=75"), { timeout: 30_000 });
  });

  it("closes idle connections once there is no room for another", async () => {
    const server = createHttpServer(
      (_, outgoing) => outgoing.end("answer"),
      () => {},
    );
    server.maxConnections = 1;
    const port = await listen(server);
    const idle = send(port, GET);
    await vi.waitFor(() => expect(idle.received).toContain("answer"), { timeout: 30_000 });
    const turnedAway = send(port, GET);
    await vi.waitFor(() => expect([turnedAway.isClosed, idle.isClosed]).toEqual([true, true]), {
      timeout: 30_000,
    });
    const next = send(port, GET);
    await vi.waitFor(() => expect(next.received).toContain("answer"), { timeout: 30_000 });
  });

  it("closes connections whose responses wait for their clients, once there is no room for another", async () => {
    const server = createHttpServer(
      ({ url }, outgoing) => {
        // A page is written as it is read.
        if (url === "/large") outgoing.write(Buffer.alloc(64 * 1024 * 1024));
        else if (url === "/stream") outgoing.write("begun");
        else outgoing.end("answer");
      },
      () => {},
      2_000,
    );
    // As if they read a few bytes now and then.
    server.timeout = 0;
    server.maxConnections = 3;
    const port = await listen(server);
    const stream = send(port, GET.replace("/", "/stream"));
    const slow = [send(port, GET.replace("/", "/large")), send(port, GET.replace("/", "/large"))];
    for (const { socket } of slow) {
      await once(socket, "data");
      socket.pause();
    }
    await vi.waitFor(() => expect(stream.received).toContain("begun"), { timeout: 30_000 });
    await eventually(async () => {
      const next = send(port, GET);
      await vi.waitFor(() => expect(next.isClosed || next.received.includes("answer")).toBe(true), {
        timeout: 30_000,
      });
      return next.received.includes("answer");
    }, true);
    expect(stream.isClosed).toBe(false);
  });
});

describe("a client that has yet to read a response of a full server", () => {
  const SLOW_FOR_MS = 60_000;

  const WRITTEN: Record<"at once" | "in parts", (outgoing: ServerResponse) => void> = {
    "at once": (outgoing) => outgoing.end(Buffer.alloc(128 * 1024 * 1024)),
    "in parts": (outgoing) => {
      const writeMore = () => {
        while (outgoing.write(Buffer.alloc(65_536)));
      };
      outgoing.on("drain", writeMore);
      writeMore();
    },
  };

  async function openResponse(written: keyof typeof WRITTEN) {
    const server = createHttpServer(
      (_, outgoing) => WRITTEN[written](outgoing),
      () => {},
      SLOW_FOR_MS,
    );
    const port = await listen(server);
    const connected = once(server, "connection");
    const client = send(port, GET);
    const [socket] = (await connected) as [Socket];
    await once(client.socket, "data");
    client.socket.pause();
    const clock = vi.spyOn(performance, "now");
    onTestFinished(() => clock.mockRestore());
    return {
      /** Reads at least `bytes` more, then nothing: a client that has read the whole response would be idle. */
      readOn: async (bytes: number) => {
        const { socket } = client;
        const readUntil = socket.bytesRead + bytes;
        const stop = () => socket.bytesRead >= readUntil && socket.pause();
        socket.on("data", stop).resume();
        await eventually(async () => socket.isPaused() || socket.destroyed, true);
        socket.off("data", stop);
      },
      waitUntilWritten: async () => {
        let before = -1;
        await eventually(async () => {
          const written = socket.bytesWritten;
          const isStill = written === before;
          before = written;
          await sleep(100);
          return isStill;
        }, true);
      },
      isClosed: () => socket.destroyed,
      turnSomebodyAwayAt: (ms: number) => {
        clock.mockReturnValue(ms);
        server.emit("drop");
      },
    };
  }

  it.each(["at once", "in parts"] as const)(
    "stays while it reads on what was written %s",
    async (written) => {
      const client = await openResponse(written);
      for (let third = 1; third <= 4; third += 1) {
        client.turnSomebodyAwayAt((third * SLOW_FOR_MS) / 3);
        // More than the system keeps for it.
        await client.readOn(16 * 1024 * 1024);
      }
      client.turnSomebodyAwayAt(2 * SLOW_FOR_MS);
      expect(client.isClosed()).toBe(false);
    },
  );

  it("makes room where another one comes once in a while only", async () => {
    const client = await openResponse("in parts");
    await client.waitUntilWritten();
    client.turnSomebodyAwayAt(SLOW_FOR_MS);
    expect(client.isClosed()).toBe(false);
    client.turnSomebodyAwayAt(3 * SLOW_FOR_MS);
    expect(client.isClosed()).toBe(true);
  });
});

it.runIf(process.platform === "linux")("closes idle connections before open files run out", async () => {
  const MAX_FILES = 128;
  const module = pathToFileURL(join(import.meta.dirname, "../../src/runtime/http-server.ts"));
  const program = `import { createHttpServer } from "${module}";
      const server = createHttpServer((_, outgoing) => outgoing.end("done"), () => {});
      server.listen(0, "127.0.0.1", () => console.log(server.address().port));`;
  const script = `ulimit -n ${MAX_FILES} && exec "$0" --input-type=module --eval "$1"`;
  const child = spawn("bash", ["-c", script, process.execPath, program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [output] = await once(child.stdout, "data");
  const port = Number(output);
  let answered = 0;
  const connectAndStay = async () => {
    const client = send(port, GET);
    await vi.waitFor(() => expect(client.isClosed || client.received.includes("done")).toBe(true), {
      timeout: 30_000,
    });
    if (client.received.includes("done")) answered += 1;
  };
  await eventually(async () => {
    await Promise.all(Array.from({ length: 20 }, connectAndStay));
    return answered > MAX_FILES;
  }, true);
});

it("searches for idle connections now and then, not for each one that is turned away", () => {
  const server = createHttpServer(
    () => {},
    () => {},
  );
  const close = vi.spyOn(server, "closeIdleConnections");
  for (let turnedAway = 0; turnedAway < 1_000; turnedAway += 1) server.emit("drop");
  expect(close.mock.calls.length).toBeGreaterThan(0);
  expect(close.mock.calls.length).toBeLessThan(100);
});

describe("a response that its client has yet to read", () => {
  /** More than the system takes at once. */
  const BYTES = 32 * 1024 * 1024;

  /** Asks for it, and reads no more than its beginning until `readRest`. */
  async function readBeginning(port: number) {
    const { socket } = send(port, GET);
    let bytes = 0;
    socket.on("data", (data) => {
      bytes += data.length;
    });
    await once(socket, "data");
    socket.pause();
    const closed = once(socket, "close");
    return {
      readRest: async () => {
        socket.resume();
        await vi.waitFor(() => expect(bytes > BYTES || socket.closed).toBe(true), { timeout: 60_000 });
        socket.end();
        await closed;
        return bytes;
      },
    };
  }

  it("is not cut off when another connection finds no room", async () => {
    const server = createHttpServer(
      (_, outgoing) => outgoing.end(Buffer.alloc(BYTES)),
      () => {},
    );
    server.maxConnections = 1;
    const port = await listen(server);
    const reader = await readBeginning(port);
    await send(port, GET).closed;
    expect(await reader.readRest()).toBeGreaterThan(BYTES);
  });

  it("is not cut off while the server stops", async () => {
    const server = createServer((_, outgoing) => outgoing.end(Buffer.alloc(BYTES)));
    const drain = prepareDrain(server, { quietForMs: 1, silentForMs: 1, finishWithinMs: 600_000 });
    const reader = await readBeginning(await listen(server));
    const sweeping = vi.spyOn(server, "closeIdleConnections");
    const drained = drain();
    await vi.waitFor(() => expect(sweeping).toHaveBeenCalled(), { timeout: 30_000 });
    expect(await reader.readRest()).toBeGreaterThan(BYTES);
    await drained;
  });
});

describe("prepareDrain", () => {
  it("accepts connections until none has come for a while, as from a load balancer that does not know yet", async () => {
    const server = createServer((_, outgoing) => outgoing.end("answer"));
    const drain = prepareDrain(server, { quietForMs: 1_000 });
    let lastConnectionAt = 0;
    server.on("connection", () => {
      lastConnectionAt = performance.now();
    });
    const port = await listen(server);
    let closedAt = 0;
    const drained = drain().then(() => {
      closedAt = performance.now();
    });
    for (let opened = 0; opened < 8 && closedAt === 0; opened += 1) {
      send(port, GET);
      await sleep(50);
    }
    await drained;
    expect(lastConnectionAt).toBeGreaterThan(0);
    expect(closedAt - lastConnectionAt).toBeGreaterThan(990);
  });

  it.each([
    ["a load balancer takes to notice", { quietForMs: 1, acceptAtLeastMs: 500 }],
    ["none may come", { quietForMs: 500 }],
  ])("accepts connections for as long as %s, even if none has come", async (_, options) => {
    const server = createServer((_, outgoing) => outgoing.end("answer"));
    const drain = prepareDrain(server, options);
    await listen(server);
    const stoppedAt = performance.now();
    await drain();
    expect(performance.now() - stoppedAt).toBeGreaterThan(490);
  });

  it("answers a connection that came while the process was too busy to accept it", async () => {
    const server = createServer((_, outgoing) => outgoing.end("answer"));
    const drain = prepareDrain(server, { quietForMs: 50 });
    const port = await listen(server);
    const received = new Int32Array(new SharedArrayBuffer(8));
    const client = new Worker(CLIENT, { eval: true, workerData: { port, request: GET, received } });
    const exited = once(client, "exit");
    await once(client, "online");
    const drained = drain();
    // Nothing else runs until the client has connected and the wait for a quiet time is over.
    Atomics.wait(received, CONNECTED, 0, 30_000);
    Atomics.wait(received, BYTES, 0, 100);
    await drained;
    await exited;
    expect(received[BYTES]).toBeGreaterThan(0);
  });

  it("answers a connection that sends its request only after connections are no longer accepted", async () => {
    const server = createServer((_, outgoing) => outgoing.end("answer"));
    const drain = prepareDrain(server, { quietForMs: 1, silentForMs: 30_000 });
    const port = await listen(server);
    const client = send(port, "");
    await once(server, "connection");
    const drained = drain();
    await vi.waitFor(() => expect(server.listening).toBe(false), { timeout: 30_000 });
    await sleep(600);
    client.socket.write(GET);
    await drained;
    await vi.waitFor(() => expect(client.received).toContain("answer"), { timeout: 30_000 });
  });

  it("closes a connection with its next answer, so that nothing more is sent on it", async () => {
    const server = createServer((_, outgoing) => outgoing.end("answer"));
    const drain = prepareDrain(server, { quietForMs: 1, silentForMs: 30_000 });
    const client = send(await listen(server), GET);
    await vi.waitFor(() => expect(client.received).toMatch(/answer$/), { timeout: 30_000 });
    expect(client.received).toContain("Connection: keep-alive");
    const drained = drain();
    client.socket.write(GET);
    await drained;
    await vi.waitFor(() => expect(client.isClosed).toBe(true), { timeout: 30_000 });
    expect(client.received).toMatch(/Connection: close\r\n[\s\S]*answer$/);
  });

  it("does not wait for clients that keep an idle connection", async () => {
    // Node would close them after a minute and a half.
    const never = { keepAliveTimeout: 600_000, headersTimeout: 0, requestTimeout: 0 };
    const server = createServer(never, (_, outgoing) => outgoing.end("answer"));
    const drain = prepareDrain(server, { quietForMs: 1, silentForMs: 1, finishWithinMs: 600_000 });
    const port = await listen(server);
    const clients = [send(port, GET), send(port, "")];
    await vi.waitFor(() => expect(clients[0]?.received).toContain("answer"), { timeout: 30_000 });
    await drain();
    await Promise.all(clients.map(({ closed }) => closed));
  });

  it("stops accepting after a while even if connections keep coming", async () => {
    const server = createServer((_, outgoing) => outgoing.end("answer"));
    const drain = prepareDrain(server, { quietForMs: 60_000, acceptForMs: 300 });
    const port = await listen(server);
    send(port, GET);
    await drain();
    expect(server.listening).toBe(false);
  });

  it("destroys every connection after the deadline, upgraded ones included", async () => {
    const server = createServer((_, outgoing) => outgoing.write("begun"));
    const drain = prepareDrain(server, { finishWithinMs: 300 });
    server.on("upgrade", (_, socket) => socket.write("upgraded"));
    const port = await listen(server);
    const hanging = send(port, GET);
    const upgraded = send(port, "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: y\r\n\r\n");
    await vi.waitFor(
      () => expect([hanging.received, upgraded.received].every((text) => text !== "")).toBe(true),
      { timeout: 30_000 },
    );
    await drain();
    await vi.waitFor(() => expect([hanging.isClosed, upgraded.isClosed]).toEqual([true, true]), {
      timeout: 30_000,
    });
  });
});
