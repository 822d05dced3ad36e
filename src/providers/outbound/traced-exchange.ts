import { type Span, traced } from "../../domain/tracing.ts";
import type { ApiRequest } from "./api-request.ts";
import type { ConnectedProvider } from "./connected-provider.ts";
import { type Exchange, exchange } from "./exchange.ts";

/** One request to a provider, in a span where requests are traced. @throws what `exchange` throws */
export function tracedExchange(
  { apiUrl, slot, tracing }: ConnectedProvider,
  { method, path, headers, body }: ApiRequest,
  limits: { withinMs: number; maxBytes: number },
): Promise<Exchange> {
  const url = `${apiUrl}${path}`;
  const send = async (span: Span | null) => {
    const traceHeaders = span === null ? {} : { traceparent: span.traceparent() };
    const response = await exchange(url, { method, headers: { ...headers, ...traceHeaders }, body }, limits);
    span?.set({ "http.response.status_code": response.status });
    if (response.status >= 400) span?.set({ "error.type": String(response.status) });
    return response;
  };
  if (tracing === null) return send(null);
  return traced(
    tracing,
    method,
    { kind: "client", parent: "active", attributes: attributesOf(url, method, slot) },
    send,
  );
}

/** Without the query, which may contain an email address. */
function attributesOf(url: string, method: string, slot: string) {
  const { origin, pathname, hostname, port, protocol } = new URL(url);
  return {
    "http.request.method": method,
    "url.full": origin + pathname,
    "server.address": hostname,
    "server.port": Number(port || (protocol === "https:" ? 443 : 80)),
    "tollgate.slot": slot,
  };
}
