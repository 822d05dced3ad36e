import type { IncomingHttpHeaders } from "node:http";
import { startHttpServer } from "../../support/http.ts";

/** A request as it arrived, path without the query. */
type Heard = {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  body: string;
};

/** `silence`: never; `hang-up`: the connection is cut. */
export type Reply =
  | { status?: number; body?: object | string; headers?: Record<string, string> }
  | "silence"
  | "hang-up";

export type LocalProvider = {
  /** With a path, as a provider behind a gateway has one. */
  url: string;
  requests: Heard[];
  /** How requests are answered from now on; `nth` counts from 0. */
  respondWith(answer: (heard: Heard, nth: number) => Reply): void;
  close(): Promise<void>;
};

/** A server that stands for a provider's API: it notes what it is asked and answers as it is told. */
export async function localProvider(): Promise<LocalProvider> {
  const heard: Heard[] = [];
  let answer: (heard: Heard, nth: number) => Reply = () => ({ status: 404 });
  const server = await startHttpServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const { pathname, searchParams } = new URL(incoming.url ?? "/", "http://local");
    const { method = "", headers } = incoming;
    const received = {
      method,
      path: pathname,
      query: searchParams,
      headers,
      body: Buffer.concat(chunks).toString(),
    };
    const reply = answer(received, heard.push(received) - 1);
    if (reply === "silence") return;
    if (reply === "hang-up") {
      incoming.socket.destroy();
      return;
    }
    const { status = 200, body = "", headers: more = {} } = reply;
    response.writeHead(status, { "content-type": "application/json", ...more });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  });
  return {
    url: `${server.url}/provider-a`,
    requests: heard,
    respondWith: (next) => {
      heard.length = 0;
      answer = next;
    },
    close: server.close,
  };
}
