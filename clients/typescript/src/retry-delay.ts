export type RetryLimits = {
  /** Attempts after the first; 0: none. */
  maxRetries: number;
  /** A longer wait is left to the caller; a random part of up to 250 ms comes on top. */
  maxRetryWaitMs: number;
};

export type FailedAttempt = {
  /** 0: the first. */
  attempt: number;
  /** `null`: no response arrived. */
  status: number | null;
  retryAfterSeconds: number | null;
  /** Whether a request that may have been carried out can be sent again. */
  isRepeatable: boolean;
};

const FIRST_BACKOFF_MS = 250;
const UNAVAILABLE = new Set([502, 503, 504]);

/** How long to wait before the next attempt; `null`: there is none. @param random from 0 to 1 */
export function retryDelayMs(
  { attempt, status, retryAfterSeconds, isRepeatable }: FailedAttempt,
  { maxRetries, maxRetryWaitMs }: RetryLimits,
  random = Math.random(),
): number | null {
  if (attempt >= maxRetries) return null;
  // What is over a limit has not been carried out; after any other failure, it may have been.
  const isSafe = status === 429 || (isRepeatable && (status === null || UNAVAILABLE.has(status)));
  if (!isSafe) return null;
  const delayMs = retryAfterSeconds === null ? FIRST_BACKOFF_MS * 2 ** attempt : retryAfterSeconds * 1000;
  if (delayMs > maxRetryWaitMs) return null;
  // Clients that were refused together must not come back at the same moment.
  return delayMs + FIRST_BACKOFF_MS * random;
}

/** Of a `Retry-After` header; `null` when it has none. */
export function readRetryAfter(headers: { get(name: string): string | null }): number | null {
  const value = headers.get("retry-after");
  if (value === null) return null;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return Math.max(0, seconds);
  const time = Date.parse(value);
  return Number.isNaN(time) ? null : Math.max(0, (time - Date.now()) / 1000);
}
