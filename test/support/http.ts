import {
  Agent,
  createServer,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type RequestListener,
  request,
} from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { getRequestListener } from "@hono/node-server";
import type { Hono } from "hono";
import type { Slot } from "../../src/domain/slot.ts";

export type HttpResponse = {
  status: number;
  headers: Headers;
  /** The same as an object with lower-case names. */
  fields: IncomingHttpHeaders;
  /** Parsed if the content type is JSON, else `undefined`. */
  // biome-ignore lint/suspicious/noExplicitAny: each test knows its response
  body: any;
  text: string;
};

export type RequestOptions = {
  /** Forms are encoded as browsers do; anything else is sent as JSON, unless it is text or bytes already. */
  body?: unknown;
  cookie?: string;
  /** An API key, sent as a bearer token. */
  key?: string;
  /** An `undefined` header is omitted, for example the default content type. */
  headers?: Record<string, string | string[] | undefined>;
  agent?: Agent;
};

/** Connections that nobody has used for 20 s are closed here, before HAProxy does as a request goes out. */
const keepAlive = new Agent({ keepAlive: true, maxSockets: 256, timeout: 20_000 });

/**
 * Sends one request as a client without a browser does, and follows no redirect.
 * @param path goes out as it is written; `fetch` would normalize it. Only what HTTP cannot carry is
 * percent-encoded.
 */
export async function sendRequest(
  serverUrl: string,
  method: string,
  path: string,
  { body, cookie, key, headers = {}, agent = keepAlive }: RequestOptions = {},
): Promise<HttpResponse> {
  const { hostname, port } = new URL(serverUrl);
  const { bytes, contentType } = await encoded(body);
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        hostname,
        port,
        method,
        agent,
        timeout: 100_000,
        path: path.replaceAll(/[^\x21-\x7e]/gu, encodeURIComponent),
        headers: defined({
          // Node would leave out the length of a GET's body.
          ...(bytes === undefined
            ? {}
            : { "content-type": contentType, "content-length": `${Buffer.byteLength(bytes)}` }),
          ...(cookie === undefined ? {} : { cookie }),
          ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
          ...lowerCased(headers),
        }),
      },
      async (incoming) => {
        try {
          const text = (await buffer(incoming)).toString();
          const isJson = incoming.headers["content-type"]?.startsWith("application/json") ?? false;
          resolve({
            status: incoming.statusCode ?? 0,
            headers: new Headers(pairs(incoming.rawHeaders)),
            fields: incoming.headers,
            body: isJson && text !== "" ? JSON.parse(text) : undefined,
            text,
          });
        } catch (error) {
          reject(error);
        }
      },
    );
    outgoing.on("error", reject);
    outgoing.on("timeout", () => outgoing.destroy(new Error("no response within 100 s")));
    outgoing.end(bytes);
  });
}

async function encoded(
  body: unknown,
): Promise<{ bytes: string | Uint8Array | undefined; contentType?: string }> {
  if (body instanceof FormData || body instanceof URLSearchParams) {
    const form = new Response(body);
    return {
      bytes: Buffer.from(await form.arrayBuffer()),
      contentType: form.headers.get("content-type") as string,
    };
  }
  const isEncoded = body === undefined || typeof body === "string" || body instanceof Uint8Array;
  return { bytes: isEncoded ? body : JSON.stringify(body), contentType: "application/json" };
}

type HeaderFields = Record<string, string | string[] | undefined>;

function lowerCased(headers: HeaderFields): HeaderFields {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** A request has a length or is chunked, not both. */
function defined(headers: HeaderFields): OutgoingHttpHeaders {
  const isChunked = headers["transfer-encoding"] !== undefined;
  return Object.fromEntries(
    Object.entries(headers).filter(
      ([name, value]) => value !== undefined && !(isChunked && name === "content-length"),
    ),
  );
}

function pairs(rawHeaders: readonly string[]): [string, string][] {
  return rawHeaders.flatMap((name, n) => (n % 2 === 0 ? [[name, rawHeaders[n + 1] as string]] : []));
}

/** Posts a delivery to the webhook endpoint of a slot. */
export function deliverWebhook(
  serverUrl: string,
  slot: Slot | string,
  { rawBody, headers }: { rawBody: Buffer; headers: Record<string, string> },
  { agent, method = "POST" }: { agent?: Agent; method?: string } = {},
): Promise<HttpResponse> {
  return sendRequest(serverUrl, method, `/api/webhooks/${slot}`, {
    headers: { "content-type": undefined, ...headers },
    body: rawBody,
    ...(agent ? { agent } : {}),
  });
}

/**
 * Posts a delivery as a provider does: a server that is overloaded, as all are on a busy machine, gets it
 * again. The event may have been applied before: then it is a duplicate.
 */
export async function deliverUntilAnswered(
  serverUrl: string,
  slot: Slot | string,
  delivery: { rawBody: Buffer; headers: Record<string, string> },
): Promise<HttpResponse> {
  const giveUpAt = performance.now() + 60_000;
  for (;;) {
    const response = await deliverWebhook(serverUrl, slot, delivery);
    if (response.status !== 503 || performance.now() > giveUpAt) return response;
  }
}

/** Serves an app over real HTTP on a free port. */
// biome-ignore lint/suspicious/noExplicitAny: the app may have any environment
export function listen(app: { fetch: any }): Promise<LocalServer> {
  return startHttpServer(getRequestListener((app as Hono).fetch, { hostname: "localhost" }));
}

export type LocalServer = { url: string; close(): Promise<void> };

/** An HTTP server of one test's own, on a free port. */
export async function startHttpServer(listener: RequestListener): Promise<LocalServer> {
  const server = createServer(listener);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}
