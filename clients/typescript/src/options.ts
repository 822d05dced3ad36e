import type { RetryLimits } from "./retry-delay.ts";

export type TollgateOptions = {
  /** Where the server is, without `/api`: `https://tollgate.example.com`. */
  url: string;
  /** A user's key (`tg_...`), or a service key (`tgs_...`), which belongs on servers alone. */
  key?: string | undefined;
  /** How often a call that failed is sent again, where that is safe. 3 unless given; 0: never. */
  maxRetries?: number;
  /** A call that would have to wait longer fails at once. 30 seconds unless given. */
  maxRetryWaitMs?: number;
  /** For one attempt of a call. 10 seconds unless given. */
  timeoutMs?: number;
  /** Sends the requests, instead of the global `fetch`. */
  fetch?: typeof fetch;
};

export type Connection = RetryLimits & {
  baseUrl: string;
  headers: Record<string, string>;
  timeoutMs: number;
  fetch: typeof fetch;
};

export function connectionOf(options: TollgateOptions): Connection {
  const { url, key, maxRetries = 3, maxRetryWaitMs = 30_000, timeoutMs = 10_000 } = options;
  return {
    baseUrl: baseUrlOf(url),
    headers: key === undefined ? {} : { authorization: `Bearer ${requireKey(key)}` },
    maxRetries,
    maxRetryWaitMs,
    timeoutMs,
    // Called as a method of another object, browsers refuse it.
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
  };
}

/** `fetch` would quote a key that cannot be sent, such as one shortened with an ellipsis. @throws TypeError */
function requireKey(key: string): string {
  const trimmed = key.trim();
  if (/[^\x20-\x7e]/.test(trimmed)) throw new TypeError("key: contains a character that no key can have");
  return trimmed;
}

/** @throws TypeError */
function baseUrlOf(url: string): string {
  // "localhost:3000" can be parsed, too: its scheme would be "localhost".
  if (!URL.canParse(url) || !/^https?:\/\/[^/?#@]+(\/[^?#]*)?$/i.test(url.trim()))
    throw new TypeError(`url: "${url}" is not an address such as https://tollgate.example.com`);
  return new URL(url).href.replace(/\/+$/, "");
}
