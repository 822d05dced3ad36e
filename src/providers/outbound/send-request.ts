import { setTimeout as sleep } from "node:timers/promises";
import type { ApiRequest } from "./api-request.ts";
import type { ConnectedProvider } from "./connected-provider.ts";
import { outcomeOfNetworkError, outcomeOfResponse, type RequestOutcome } from "./outcome.ts";
import { problem } from "./problems.ts";
import { tracedExchange } from "./traced-exchange.ts";

const CALL_MS = 9_500;
/** Repeatable requests have a shorter timeout, to leave time for retries. */
const ATTEMPT_MS = 4_500;
const MIN_ATTEMPT_MS = 500;
const MAX_REPEATS = 2;
const FIRST_PAUSE_MS = 200;
const MAX_OBJECT_BYTES = 1024 * 1024;

/** The JSON object of the response; `null` for a response without content. @throws PaymentApiProblem */
export type SendRequest = (request: ApiRequest) => Promise<object | null>;

/**
 * All requests of one call end within 10 s, retries and pauses included, except for the wait for a rate limit where
 * `maxLimitWaitMs` allows one. @throws PaymentApiProblem
 */
export function beginCall(provider: ConnectedProvider, { maxBytes = MAX_OBJECT_BYTES } = {}): SendRequest {
  // `fetch` would quote an invalid key in its error.
  if (!/^[\x21-\x7e]+$/.test(provider.apiKey))
    throw problem(provider, "unauthorized", "the key is malformed");
  const { pacer } = provider;
  let endsAt = performance.now() + CALL_MS;
  let limitWaitMs = provider.maxLimitWaitMs;
  const waitForLimit = async () => {
    const startedAt = performance.now();
    const leftMs = endsAt - startedAt - MIN_ATTEMPT_MS;
    if (!(await pacer.wait(Math.max(leftMs, limitWaitMs)))) throw tooManyRequests(provider);
    if (provider.maxLimitWaitMs === 0) return;
    const waitedMs = performance.now() - startedAt;
    endsAt += waitedMs;
    limitWaitMs -= waitedMs;
  };
  return async (request) => {
    for (let repeats = 0; ; repeats++) {
      await waitForLimit();
      const outcome = await attempt(provider, request, { leftMs: endsAt - performance.now(), maxBytes });
      if (outcome.kind === "answered") return outcome.body;
      if (outcome.retryAfterMs !== null) pacer.pause(outcome.retryAfterMs);
      const pauseMs = outcome.retryAfterMs ?? FIRST_PAUSE_MS * 2 ** repeats * (0.5 + Math.random());
      if (outcome.isRetryable && isWorthWaiting(outcome.retryAfterMs, limitWaitMs)) {
        // Waited for before the next attempt, which is no repeat of one that has failed.
        repeats -= 1;
        continue;
      }
      const enoughTime = endsAt - performance.now() - pauseMs >= MIN_ATTEMPT_MS;
      if (!outcome.isRetryable || repeats === MAX_REPEATS || !enoughTime) throw outcome.problem;
      await sleep(pauseMs);
    }
  };
}

/** A shorter pause is part of the call: a provider that asks for none could be asked for ever. */
function isWorthWaiting(retryAfterMs: number | null, limitWaitMs: number): boolean {
  return retryAfterMs !== null && retryAfterMs >= 1_000 && retryAfterMs < limitWaitMs;
}

async function attempt(
  provider: ConnectedProvider,
  request: ApiRequest,
  { leftMs, maxBytes }: { leftMs: number; maxBytes: number },
): Promise<RequestOutcome> {
  const withinMs = Math.max(1, Math.floor(request.repeatable ? Math.min(leftMs, ATTEMPT_MS) : leftMs));
  try {
    const response = await tracedExchange(provider, request, { withinMs, maxBytes });
    return outcomeOfResponse(provider, request, response);
  } catch (error) {
    return outcomeOfNetworkError(provider, request, error);
  }
}

function tooManyRequests(provider: ConnectedProvider) {
  const retryAfterMs = provider.pacer.waitMs();
  const seconds = Math.ceil(retryAfterMs / 1000);
  return problem(provider, "unreachable", `its rate limit is used up for ${seconds} s`, { retryAfterMs });
}
