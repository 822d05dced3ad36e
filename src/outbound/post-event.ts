import { type ClientRequest, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { errorText } from "../domain/error-text.ts";
import {
  noResponseWithin,
  OUTBOUND_FAILURES,
  OUTBOUND_TIMEOUT_SECONDS,
} from "../domain/outbound/outbound-failure.ts";
import { type Span, type SpanAttributes, type Tracing, traced } from "../domain/tracing.ts";
import type { AttemptResult } from "../store/outbound/record-outbound-attempts.ts";
import {
  type Address,
  type OutboundAllow,
  type ResolvedTarget,
  type ResolveHost,
  resolveTarget,
} from "./allowed-targets.ts";
import type { CheckedAddresses, EndpointConnections } from "./endpoint-connections.ts";
import { signedHeaders } from "./sign.ts";

const TIMEOUT_MS = OUTBOUND_TIMEOUT_SECONDS * 1_000;
/** The most that is read of a response, so that an endpoint cannot keep a connection busy. */
const MAX_RESPONSE_BYTES = 64 * 1024;
const MAX_ERROR_LENGTH = 300;

export type PostOptions = {
  allow: OutboundAllow;
  now: () => number;
  timeoutMs?: number;
  tracing?: Tracing | null;
  /** Connections to reuse; without them each event opens its own. */
  connections?: EndpointConnections;
  resolve?: ResolveHost;
};

/**
 * Signs an event and posts it to an endpoint. Any 2xx is a success; a redirect is not followed. Never throws.
 */
export async function postEvent(
  { url, secrets }: { url: string; secrets: readonly string[] },
  event: { id: string; body: string },
  { allow, now, timeoutMs = TIMEOUT_MS, tracing, connections, resolve }: PostOptions,
): Promise<AttemptResult> {
  const startedAt = performance.now();
  const failed = (error: string): AttemptResult => ({
    isDelivered: false,
    durationMs: performance.now() - startedAt,
    responseStatus: null,
    error: error.slice(0, MAX_ERROR_LENGTH),
  });
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const target = await beforeAbort(signal, resolveTarget(url, allow, resolve));
    if ("problem" in target) return failed(OUTBOUND_FAILURES[target.problem]);
    const headers = {
      ...signedHeaders(event.body, { id: event.id, timestampSeconds: Math.floor(now() / 1000), secrets }),
      "content-type": "application/json",
      "content-length": Buffer.byteLength(event.body),
      "user-agent": "Tollgate",
    };
    const attributes = { ...clientAttributes(target), "tollgate.event.id": event.id };
    const status = await traced(tracing, "POST", { kind: "client", parent: "active", attributes }, (span) =>
      post(target, headers, event.body, { signal, span, connections }),
    );
    const isDelivered = status >= 200 && status < 300;
    return {
      isDelivered,
      durationMs: performance.now() - startedAt,
      responseStatus: status,
      error: isDelivered ? null : `the endpoint responded with ${status}`,
    };
  } catch (error) {
    const isTimeout =
      error instanceof Error && (error.name === "TimeoutError" || error.name === "AbortError");
    return failed(isTimeout ? noResponseWithin(timeoutMs / 1000) : errorText(error));
  }
}

/** A look-up of a name cannot be aborted, and may outlast the lease of the delivery. */
async function beforeAbort<Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener("abort", abort);
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

type SendOptions = { signal: AbortSignal; span: Span | null; connections?: EndpointConnections | undefined };

async function post(
  target: ResolvedTarget,
  headers: Record<string, string | number>,
  body: string,
  options: SendOptions,
): Promise<number> {
  try {
    return await send(target, headers, body, options);
  } catch (error) {
    // The endpoint closed the open connection while the request was on its way.
    if (error instanceof StaleConnection)
      return send(target, headers, body, { ...options, connections: undefined });
    throw error;
  }
}

class StaleConnection extends Error {}

function send(
  { url, addresses }: ResolvedTarget,
  headers: Record<string, string | number>,
  body: string,
  { signal, span, connections }: SendOptions,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const create = url.protocol === "https:" ? requestHttps : requestHttp;
    const [first] = addresses as [Address];
    // In one order: name servers rotate them.
    const names = addresses.map(({ address }) => address).sort();
    const checked: CheckedAddresses = { checkedAddresses: names.join(" ") };
    const request = create(url, {
      ...checked,
      method: "POST",
      headers: span === null ? headers : { ...headers, traceparent: span.traceparent() },
      signal,
      agent: connections?.agent(url.protocol) ?? false,
      // To the addresses that were checked, the next one if one cannot be reached: the name is not resolved
      // again.
      lookup: (_host, options, callback) => {
        if (options.all) callback(null, addresses);
        else callback(null, first.address, first.family);
      },
    });
    request.on("error", (error) => reject(isStale(request, error) ? new StaleConnection() : error));
    // Node.js closes such a connection without an error if nobody listens.
    request.on("upgrade", (response, socket) => {
      socket.destroy();
      resolve(response.statusCode as number);
    });
    request.on("response", (response) => {
      span?.set({ "http.response.status_code": response.statusCode as number });
      let bytes = 0;
      const finish = () => resolve(response.statusCode as number);
      response.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes <= MAX_RESPONSE_BYTES) return;
        finish();
        request.destroy();
      });
      response.on("end", finish);
      response.on("error", reject);
    });
    request.end(body);
  });
}

function isStale(request: ClientRequest, error: NodeJS.ErrnoException): boolean {
  return request.reusedSocket && (error.code === "ECONNRESET" || error.code === "EPIPE");
}

/** Only the host: path and query of somebody's endpoint may contain a secret. */
function clientAttributes({ url }: ResolvedTarget): SpanAttributes {
  return {
    "http.request.method": "POST",
    "server.address": url.hostname,
    "server.port": Number(url.port || (url.protocol === "https:" ? 443 : 80)),
  };
}
