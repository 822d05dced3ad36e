import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { errorText } from "../domain/error-text.ts";
import { isUntrusted } from "../domain/untrusted-certificate.ts";

export type ProbeResult = {
  status: number;
  text: string;
  location: string | null;
  /** How far the other side's clock, read from its Date header, is ahead of ours; `null`: it sent none. */
  clockAheadMs: number | null;
};

/** Why there is no response. */
export type ProbeFailure = { problem: string; isUntrusted: boolean };

export type ProbeRequest = {
  method?: "GET" | "POST";
  headers?: Record<string, string>;
  body?: Buffer;
  /** For the whole exchange: a response may also arrive byte by byte, without an end. */
  withinMs?: number;
};

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 64 * 1024;

/**
 * Sends one request as a provider would, without following redirects.
 */
export function probe(
  url: string,
  { method = "GET", headers = {}, body, withinMs = TIMEOUT_MS }: ProbeRequest = {},
): Promise<ProbeResult | ProbeFailure> {
  const request = url.startsWith("https:") ? requestHttps : requestHttp;
  const startedMs = Date.now();
  return new Promise((resolve) => {
    const fail = (error: unknown) => resolve({ problem: errorText(error), isUntrusted: isUntrusted(error) });
    const asking = request(url, { method, headers, agent: false }, (incoming) => {
      const clockAheadMs = aheadMs(incoming.headers.date, (startedMs + Date.now()) / 2);
      const chunks: Buffer[] = [];
      let bytes = 0;
      incoming.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes <= MAX_BYTES) chunks.push(chunk);
      });
      incoming.on("error", fail);
      incoming.on("end", () =>
        resolve({
          status: incoming.statusCode ?? 0,
          text: Buffer.concat(chunks).toString("utf8"),
          location: incoming.headers.location ?? null,
          clockAheadMs,
        }),
      );
    });
    const deadline = setTimeout(() => {
      fail(new Error(`no complete response within ${withinMs / 1000} s`));
      asking.destroy();
    }, withinMs);
    asking.on("close", () => clearTimeout(deadline));
    asking.on("error", fail);
    asking.end(body);
  });
}

function aheadMs(date: string | undefined, nowMs: number): number | null {
  const theirsMs = Date.parse(date ?? "");
  // A Date header is rounded down, by half a second on average.
  return Number.isNaN(theirsMs) ? null : theirsMs + 500 - nowMs;
}
