import { connect, type Socket } from "node:net";

export type Flooded = {
  /** Of the first answer; 0 when there was none. */
  status: number;
  /** Before the answer was seen. */
  sentBytes: number;
};

const CHUNK = Buffer.from(`10000\r\n${"x".repeat(0x10000)}\r\n`);

/**
 * Sends an endless body as fast as the server reads it, also after the response, until the server disconnects.
 * @param head request line and headers, a line each; `Transfer-Encoding` is added
 */
export function flood(serverUrl: string, head: readonly string[], withinMs = 10_000): Promise<Flooded> {
  return new Promise((resolve, reject) => {
    const socket = opened(serverUrl);
    const flooded: Flooded = { status: 0, sentBytes: 0 };
    const giveUp = setTimeout(() => {
      socket.destroy();
      reject(new Error(`not cut off within ${withinMs} ms: ${JSON.stringify(flooded)}`));
    }, withinMs);
    const pour = () => {
      while (!socket.destroyed) {
        if (flooded.status === 0) flooded.sentBytes += CHUNK.length;
        if (!socket.write(CHUNK)) return;
      }
    };
    socket.on("connect", () => {
      socket.write(`${head.join("\r\n")}\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n`);
      pour();
    });
    socket.on("drain", pour);
    socket.on("data", (data) => {
      flooded.status ||= Number(/^HTTP\/1\.1 (\d{3})/.exec(data.toString("latin1"))?.[1] ?? 0);
    });
    // The error when the other side has disconnected.
    socket.on("error", () => {});
    socket.on("close", () => {
      clearTimeout(giveUp);
      resolve(flooded);
    });
  });
}

/** Sends beginnings of requests and no more. @returns a function that ends them */
export async function dawdle(serverUrl: string, beginnings: readonly string[]): Promise<() => void> {
  const sockets = await Promise.all(
    beginnings.map(
      (beginning) =>
        new Promise<Socket>((begun, reject) => {
          const socket = opened(serverUrl);
          socket.on("error", reject);
          socket.on("connect", () => socket.write(beginning, () => begun(socket)));
        }),
    ),
  );
  return () => {
    for (const socket of sockets) socket.destroy();
  };
}

/** Everything that the server answers to these bytes until it disconnects or is silent for a moment. */
export function answersTo(serverUrl: string, bytes: string | Buffer, silentMs = 300): Promise<string> {
  return new Promise((resolve) => {
    const socket = opened(serverUrl);
    let received = "";
    socket.setTimeout(silentMs, () => socket.destroy());
    socket.on("connect", () => socket.write(bytes));
    socket.on("data", (data) => {
      received += data.toString("latin1");
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve(received));
  });
}

function opened(serverUrl: string): Socket {
  const { hostname, port } = new URL(serverUrl);
  return connect(Number(port), hostname);
}
