import { connect, type Socket } from "node:net";
import { BrokenMeasurement } from "./broken.ts";

/**
 * A cheap sender of ready-made requests over connections that are kept open, one request at a time on each.
 */
export type Sender = {
  /**
   * Waits for a free connection. Resolves with the body of the answer. @throws BrokenMeasurement unless it is
   * a 200
   */
  send(request: string): Promise<string>;
  /** The same for whatever the answer is. */
  exchange(request: string): Promise<Answer>;
  /** Connections on which nothing is under way. */
  free(): number;
  close(): void;
};

type Answer = { status: number; body: string };

type Line = { socket: Socket; received: string; waiting: Waiting | null };
type Waiting = { request: string; resolve(answer: Answer): void; reject(error: Error): void };

export async function openSender(port: number, connections: number): Promise<Sender> {
  const lines = await Promise.all(Array.from({ length: connections }, () => openLine(port)));
  const free = [...lines];
  const queue: Waiting[] = [];

  const start = (line: Line, waiting: Waiting) => {
    line.waiting = waiting;
    line.socket.write(waiting.request);
  };
  for (const line of lines) {
    line.socket.on("data", (text: string) => {
      line.received += text;
      const answer = completeAnswer(line.received);
      if (answer === null) return;
      const { waiting } = line;
      line.received = "";
      line.waiting = null;
      const next = queue.shift();
      if (next) start(line, next);
      else free.push(line);
      waiting?.resolve(answer);
    });
    const lost = () => {
      line.waiting?.reject(new BrokenMeasurement("a connection broke off"));
      if (free.includes(line)) free.splice(free.indexOf(line), 1);
      if (lines.every(({ socket }) => socket.destroyed)) {
        for (const waiting of queue.splice(0))
          waiting.reject(new BrokenMeasurement("all connections broke off"));
      }
    };
    line.socket.on("error", lost).on("close", lost);
  }

  const exchange = (request: string) =>
    new Promise<Answer>((resolve, reject) => {
      // The one that has waited longest: servers close connections that are idle for a few seconds.
      const line = free.shift();
      if (line) start(line, { request, resolve, reject });
      else if (lines.some(({ socket }) => !socket.destroyed)) queue.push({ request, resolve, reject });
      else reject(new BrokenMeasurement("all connections broke off"));
    });

  return {
    exchange,
    free: () => free.length,
    send: async (request) => {
      const { status, body } = await exchange(request);
      if (status !== 200) throw new BrokenMeasurement(`answered ${status}: ${body}`);
      return body;
    },
    close: () => {
      for (const line of lines) line.socket.destroy();
    },
  };
}

function openLine(port: number): Promise<Line> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    socket.setEncoding("latin1");
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.off("error", reject);
      resolve({ socket, received: "", waiting: null });
    });
  });
}

function completeAnswer(text: string): Answer | null {
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) return null;
  const head = text.slice(0, end).toLowerCase();
  const body = text.slice(end + 4);
  const length = /\r\ncontent-length: (\d+)/.exec(head)?.[1];
  const isComplete = length === undefined ? body.endsWith("0\r\n\r\n") : body.length >= Number(length);
  return isComplete ? { status: Number(head.slice(9, 12)), body } : null;
}
