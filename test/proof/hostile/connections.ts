import { connect, type Socket } from "node:net";

const GIVE_UP_MS = 10_000;
const TRICKLE_EVERY_MS = 500;
const HOLD_MS = 8_000;

/** Sends the bytes; resolves with the status of the first response, 0 without one. */
export function exchange(url: string, bytes: string): Promise<number> {
  return statusOf(url, (socket) => socket.write(bytes));
}

/** Sends the beginning, then one byte now and then. */
export function trickle(url: string, beginning: string): Promise<number> {
  return statusOf(url, (socket) => {
    socket.write(beginning);
    const timer = setInterval(() => socket.write("x"), TRICKLE_EVERY_MS);
    socket.on("close", () => clearInterval(timer));
  });
}

/** Connects and sends nothing. */
export function hold(url: string): Promise<number> {
  return statusOf(url, (socket) => void setTimeout(() => socket.destroy(), HOLD_MS));
}

function statusOf(url: string, send: (socket: Socket) => void): Promise<number> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    let received = "";
    const socket = connect(Number(port), hostname, () => send(socket));
    const timer = setTimeout(() => socket.destroy(), GIVE_UP_MS);
    socket.on("data", (data) => {
      // The rest of a long answer is read and dropped.
      if (received.length < 64) received += data.toString("latin1");
      if (/^HTTP\/1\.1 \d{3}/.test(received)) socket.end();
    });
    // The other side has disconnected.
    socket.on("error", () => {});
    socket.on("close", () => {
      clearTimeout(timer);
      resolve(Number(/^HTTP\/1\.1 (\d{3})/.exec(received)?.[1] ?? 0));
    });
  });
}
