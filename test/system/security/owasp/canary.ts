import type { AddressInfo } from "node:net";
import { createServer } from "node:net";

/** A server that nothing has a reason to connect to: a connection shows a forged request. */
export type Canary = {
  port: number;
  /** What each connection has sent. */
  visits: string[];
  close(): Promise<void>;
};

export async function canary(): Promise<Canary> {
  const visits: string[] = [];
  const server = createServer((socket) => {
    const visit = visits.push("") - 1;
    socket.on("data", (data) => {
      visits[visit] += data.toString("latin1");
      socket.end(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}",
      );
    });
    socket.on("error", () => {});
  });
  await new Promise<void>((listens) => server.listen(0, "127.0.0.1", listens));
  return {
    port: (server.address() as AddressInfo).port,
    visits,
    close: () => new Promise((closed) => server.close(() => closed())),
  };
}
