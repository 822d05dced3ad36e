import { connect } from "node:net";

export type RawAnswer = { status: number; body: string };

/**
 * Sends requests down one connection, all at once, as bytes that no HTTP client would send, and reads as many answers.
 * A server that closes early leaves the rest unanswered.
 */
export function pipelined(serverUrl: string, requests: readonly Buffer[]): Promise<RawAnswer[]> {
  const { hostname, port } = new URL(serverUrl);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    const answers: RawAnswer[] = [];
    let rest = "";
    socket.setTimeout(20_000, () => socket.destroy(new Error("no answer within 20 s")));
    socket.on("connect", () => socket.write(Buffer.concat(requests)));
    socket.on("data", (data) => {
      rest += data.toString("latin1");
      for (;;) {
        const head = /^HTTP\/1\.1 (\d{3})[\s\S]*?\r\n\r\n/.exec(rest);
        if (!head) break;
        const length = Number(/\r\ncontent-length: (\d+)\r\n/i.exec(head[0])?.[1] ?? 0);
        if (rest.length < head[0].length + length) break;
        answers.push({ status: Number(head[1]), body: rest.slice(head[0].length, head[0].length + length) });
        rest = rest.slice(head[0].length + length);
      }
      if (answers.length === requests.length) socket.end();
    });
    socket.on("error", (error: NodeJS.ErrnoException) => {
      // A server that has said 400 may close before it has read what came behind.
      if (error.code !== "ECONNRESET" && error.code !== "EPIPE") reject(error);
    });
    socket.on("close", () => resolve(answers));
  });
}

/** A POST as bytes; header values go out as they are. */
export function rawPost(path: string, headers: Record<string, string>, body: Buffer): Buffer {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `POST ${path} HTTP/1.1\r\nHost: fuzz\r\n${lines.join("")}Content-Length: ${body.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head, "latin1"), body]);
}
