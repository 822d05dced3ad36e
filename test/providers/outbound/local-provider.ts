import type { IncomingHttpHeaders } from "node:http";
import { text } from "node:stream/consumers";
import { startHttpServer } from "../../support/http.ts";

/** A request as it arrived, path without the query. */
type ProviderRequest = {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  body: string;
};

/** `silence`: no response; `hang-up`: the connection is closed. */
export type Reply =
  | { status?: number; body?: object | string; headers?: Record<string, string> }
  | "silence"
  | "hang-up";

export type LocalProvider = {
  /** With a path, as a provider behind a gateway has one. */
  url: string;
  requests: ProviderRequest[];
  /** How requests are answered from now on; `nth` counts from 0. */
  respondWith(answer: (request: ProviderRequest, nth: number) => Reply): void;
  close(): Promise<void>;
};

/** A stand-in for a provider's API: records requests, and responds as the test specifies. */
export async function localProvider(): Promise<LocalProvider> {
  const requests: ProviderRequest[] = [];
  let answer: (request: ProviderRequest, nth: number) => Reply = () => ({ status: 404 });
  const server = await startHttpServer(async (incoming, response) => {
    const { pathname: path, searchParams: query } = new URL(incoming.url ?? "/", "http://local");
    const { method = "", headers } = incoming;
    const request = { method, path, query, headers, body: await text(incoming) };
    const reply = answer(request, requests.push(request) - 1);
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
    requests,
    respondWith: (next) => {
      requests.length = 0;
      answer = next;
    },
    close: server.close,
  };
}
