import type { PaymentApiFailure, PaymentApiProblem } from "../../domain/payment-api.ts";
import { type ConnectedProvider, variableNameOf } from "./connected-provider.ts";
import { AnswerTooLarge, type Exchange } from "./exchange.ts";
import { problem } from "./problems.ts";
import type { Request } from "./request.ts";

/** The result of one attempt. */
export type Outcome =
  | { kind: "answered"; body: object | null }
  | { kind: "failed"; problem: PaymentApiProblem; again: boolean; retryAfterMs: number | null };

/** Error codes of failures before the request was sent. */
const NEVER_SENT = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

export function outcomeOfAnswer(provider: ConnectedProvider, request: Request, answer: Exchange): Outcome {
  const { status, text } = answer;
  const asked = `${request.method} ${pathOf(request)} answered ${status}`;
  if (status >= 300 && status < 400) return redirected(provider, asked, answer.location);
  const body = parsedObject(text);
  if (status >= 200 && status < 300) {
    const isDone = status === 204 && request.method !== "GET";
    if (body !== null || isDone) return { kind: "answered", body };
    return failed(problem(provider, "unreachable", `${asked}, but with no JSON object`), request.repeatable);
  }
  const refusal = provider.readError(status, body);
  const words =
    refusal === null
      ? `, in no words of ${provider.traits.name}'s`
      : `: "${refusal.message.replace(/\.$/, "")}"`;
  const code = refusal?.code ?? null;
  if (refusal?.means === "busy")
    return failed(problem(provider, "unreachable", `${asked}${words}`, { code }), true);
  // A response that is not from the provider's API says nothing about whether an id exists.
  if (refusal === null && (status === 404 || status === 405))
    return failed(problem(provider, "rejected", `${asked}${words}`, { remedy: urlRemedy(provider) }), false);
  const failure = refusal?.means ?? failureOf(status);
  const refusedWith = refusal === null ? null : status;
  const waitMs = retryAfterMs(answer.retryAfter);
  const again = status === 429 || (failure === "unreachable" && request.repeatable);
  return failed(
    problem(provider, failure, `${asked}${words}`, { code, refusedWith, retryAfterMs: waitMs }),
    again,
    waitMs,
  );
}

/** For a request without a response, or with an unreadable one. */
export function outcomeOfSilence(provider: ConnectedProvider, request: Request, error: unknown): Outcome {
  const asked = `${request.method} ${pathOf(request)}`;
  if (error instanceof AnswerTooLarge)
    return failed(problem(provider, "unreachable", `${asked} answered with ${error.message}`), false);
  const { code, reason } = causeOf(error);
  const again = request.repeatable || NEVER_SENT.has(code);
  return failed(problem(provider, "unreachable", `${asked} got no answer: ${reason}`), again);
}

function failed(problem: PaymentApiProblem, again: boolean, retryAfterMs: number | null = null): Outcome {
  return { kind: "failed", problem, again, retryAfterMs };
}

function redirected(provider: ConnectedProvider, asked: string, location: string | null): Outcome {
  const where =
    location === null ? "elsewhere" : (URL.parse(location, provider.apiUrl)?.origin ?? "elsewhere");
  const what = `${asked}, a redirect to ${where} that is not followed`;
  return failed(problem(provider, "rejected", what, { remedy: urlRemedy(provider) }), false);
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
function pathOf(request: Request): string {
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
