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

/** All requests of one call end within 10 s, retries and pauses included. @throws PaymentApiProblem */
export function beginCall(provider: ConnectedProvider, { maxBytes = MAX_OBJECT_BYTES } = {}): SendRequest {
  // `fetch` would quote an invalid key in its error.
  if (!/^[\x21-\x7e]+$/.test(provider.apiKey))
    throw problem(provider, "unauthorized", "the key is malformed");
  const { pacer } = provider;
  const endsAt = performance.now() + CALL_MS;
  return async (request) => {
    for (let repeats = 0; ; repeats++) {
      if (!(await pacer.wait(endsAt - performance.now() - MIN_ATTEMPT_MS))) throw tooManyRequests(provider);
      const outcome = await attempt(provider, request, { leftMs: endsAt - performance.now(), maxBytes });
      if (outcome.kind === "answered") return outcome.body;
      if (outcome.retryAfterMs !== null) pacer.pause(outcome.retryAfterMs);
      const pauseMs = outcome.retryAfterMs ?? FIRST_PAUSE_MS * 2 ** repeats * (0.5 + Math.random());
      const enoughTime = endsAt - performance.now() - pauseMs >= MIN_ATTEMPT_MS;
      if (!outcome.isRetryable || repeats === MAX_REPEATS || !enoughTime) throw outcome.problem;
      await sleep(pauseMs);
    }
  };
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
