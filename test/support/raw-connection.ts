import { connect, type Socket } from "node:net";

export type RawConnection = {
  socket: Socket;
  /** What has arrived so far. */
  received: string;
  isClosed: boolean;
  /** Resolves with all that has arrived. */
  closed: Promise<string>;
};

/** Sends bytes that no HTTP client would send on a new connection, and records the response. */
export function openRawConnection(serverUrl: string, bytes: string | Buffer): RawConnection {
  const { hostname, port } = new URL(serverUrl);
  const socket = connect(Number(port), hostname, () => socket.write(bytes));
  const connection: RawConnection = {
    socket,
    received: "",
    isClosed: false,
    closed: new Promise((resolve) => {
      socket.on("close", () => {
        connection.isClosed = true;
        resolve(connection.received);
      });
    }),
  };
  socket.on("data", (data) => {
    connection.received += data.toString("latin1");
  });
  // The other side has disconnected.
  socket.on("error", () => {});
  return connection;
}

const CHUNK = Buffer.from(`10000\r\n${"x".repeat(0x10000)}\r\n`);

/**
 * Sends an endless body as fast as the server reads it, also after the response, until the server
 * disconnects.
 * @param head request line and headers, a line each; `Transfer-Encoding` is added
 * @returns status of the response, 0 without one, and how much was sent before it was seen
 */
export async function flood(
  serverUrl: string,
  head: readonly string[],
): Promise<{ status: number; sentBytes: number }> {
  const lines = [...head, "Host: localhost", "Transfer-Encoding: chunked"];
  const connection = openRawConnection(serverUrl, `${lines.join("\r\n")}\r\n\r\n`);
  const { socket } = connection;
  let sentBytes = 0;
  const pour = () => {
    while (!socket.destroyed) {
      if (connection.received === "") sentBytes += CHUNK.length;
      if (!socket.write(CHUNK)) return;
    }
  };
  socket.on("connect", pour);
  socket.on("drain", pour);
  const received = await connection.closed;
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(received)?.[1] ?? 0), sentBytes };
}
