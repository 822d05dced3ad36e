import type { PaymentApiFailure, PaymentApiProblem } from "../../domain/providers/payment-api-problem.ts";
import type { ApiRequest } from "./api-request.ts";
import { type ConnectedProvider, variableNameOf } from "./connected-provider.ts";
import { type Exchange, ResponseTooLarge } from "./exchange.ts";
import { problem } from "./problems.ts";

/** The result of one attempt. */
export type RequestOutcome =
  | { kind: "answered"; body: object | null }
  | { kind: "failed"; problem: PaymentApiProblem; isRetryable: boolean; retryAfterMs: number | null };

/** Error codes of failures before the request was sent. */
const NEVER_SENT = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

export function outcomeOfResponse(
  provider: ConnectedProvider,
  request: ApiRequest,
  response: Exchange,
): RequestOutcome {
  const { status, text } = response;
  const described = `${request.method} ${pathOf(request)} answered ${status}`;
  if (status >= 300 && status < 400) return redirected(provider, described, response.location);
  const body = parsedObject(text);
  if (status >= 200 && status < 300) {
    const isDone = status === 204 && request.method !== "GET";
    if (body !== null || isDone) return { kind: "answered", body };
    return failed(
      problem(provider, "unreachable", `${described}, but with no JSON object`),
      request.repeatable,
    );
  }
  const refusal = provider.readError(status, body);
  const explanation =
    refusal === null
      ? `, in no words of ${provider.traits.name}'s`
      : `: "${refusal.message.replace(/\.$/, "")}"`;
  const code = refusal?.code ?? null;
  if (refusal?.means === "busy")
    return failed(problem(provider, "unreachable", `${described}${explanation}`, { code }), true);
  // A response that is not from the provider's API says nothing about whether an id exists.
  if (refusal === null && (status === 404 || status === 405))
    return failed(
      problem(provider, "rejected", `${described}${explanation}`, { remedy: urlRemedy(provider) }),
      false,
    );
  const failure = refusal?.means ?? failureOf(status);
  const refusedWith = refusal === null ? null : status;
  // A limit of the object alone, which the provider names, neither passes with a pause nor holds up other requests.
  const isPassing = failure === "unreachable";
  const waitMs = isPassing ? retryAfterMs(response.retryAfter) : null;
  const isRetryable = isPassing && (status === 429 || request.repeatable);
  return failed(
    problem(provider, failure, `${described}${explanation}`, {
      code,
      refusedWith,
      retryAfterMs: waitMs,
      obstacle: refusal?.obstacle,
    }),
    isRetryable,
    waitMs,
  );
}

/** For a request without a response, or with an unreadable one. */
export function outcomeOfNetworkError(
  provider: ConnectedProvider,
  request: ApiRequest,
  error: unknown,
): RequestOutcome {
  const described = `${request.method} ${pathOf(request)}`;
  if (error instanceof ResponseTooLarge)
    return failed(problem(provider, "unreachable", `${described} answered with ${error.message}`), false);
  const { code, reason } = causeOf(error);
  const isRetryable = request.repeatable || NEVER_SENT.has(code);
  return failed(problem(provider, "unreachable", `${described} got no response: ${reason}`), isRetryable);
}

function failed(
  problem: PaymentApiProblem,
  isRetryable: boolean,
  retryAfterMs: number | null = null,
): RequestOutcome {
  return { kind: "failed", problem, isRetryable, retryAfterMs };
}

function redirected(provider: ConnectedProvider, described: string, location: string | null): RequestOutcome {
  const target =
    location === null ? "elsewhere" : (URL.parse(location, provider.apiUrl)?.origin ?? "elsewhere");
  const detail = `${described}, a redirect to ${target} that is not followed`;
  return failed(problem(provider, "rejected", detail, { remedy: urlRemedy(provider) }), false);
}

function urlRemedy(provider: ConnectedProvider): string {
  return `Set ${variableNameOf(provider, "API_URL")} to the URL of ${provider.traits.name}'s API itself, or leave it out.`;
}

function failureOf(status: number): PaymentApiFailure {
  if (status === 401 || status === 403) return "unauthorized";
  if (status === 404) return "missing";
  return status === 408 || status === 429 || status >= 500 ? "unreachable" : "rejected";
}

/** RFC 9110, section 10.2.3: seconds, or a date. */
function retryAfterMs(header: string | null): number | null {
  if (header === null) return null;
  if (/^\d{1,6}$/.test(header)) return Number(header) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now());
}

function causeOf(error: unknown): { code: string; reason: string } {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error)) return { code: "", reason: "unknown" };
  if (cause.name === "TimeoutError") return { code: "", reason: "it took too long" };
  const code = "code" in cause && typeof cause.code === "string" ? cause.code : "";
  return { code, reason: code || cause.message };
}

// The query may contain an email address.
function pathOf(request: ApiRequest): string {
  return request.path.split("?")[0] as string;
}

function parsedObject(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}
