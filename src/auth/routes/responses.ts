import type { RefusalCode } from "../../domain/refusals/reason-definition.ts";
import { codeOf as reasonCode } from "../../domain/refusals/reasons.ts";
import { Refusal, type RefusalFacts } from "../../domain/refusals/refusal.ts";
import { statusHeaders, statusOf } from "../../http/status-of.ts";
import { DatabaseUnavailable, isTimeout, sqlState, violatedConstraint } from "../../store/database.ts";
import { FOREIGN_KEY_VIOLATION } from "../../store/driver/sql-states.ts";
import type { AuthRoute } from "./route-list.ts";

/** An error response, with the refusal that it was made of for callers within the process. */
export class RefusalResponse extends Response {
  readonly refusal: Refusal;

  constructor(refusal: Refusal, code: string) {
    const body = { error: refusal.message, message: refusal.message, code };
    super(JSON.stringify(body), { status: statusOf[refusal.code], headers: headersOf(refusal) });
    this.refusal = refusal;
  }
}

/**
 * A refusal as `{ error, message, code }`: Better Auth's own client reads the last two.
 * @param code Better Auth's own, where it has one for this
 */
export function refusalResponse(facts: RefusalFacts | Refusal, code?: string): RefusalResponse {
  const refusal = facts instanceof Refusal ? facts : new Refusal(facts);
  return new RefusalResponse(refusal, code ?? CODES[refusal.code]);
}

/** An error that there is no reason for: the sentence is Better Auth's, or only for developers. */
export function errorResponse(status: number, error: string, code: string): Response {
  return Response.json(
    { error, message: error, code },
    { status, headers: { "cache-control": "no-store", ...statusHeaders(status) } },
  );
}

/**
 * Turns Better Auth's response into ours: a success unchanged, a failure as an error body. A success during
 * which the database failed is a failure too.
 * @param failure the last database error during the request, or `null`
 * @param route the one that responded
 */
export async function translateResponse(
  response: Response,
  failure: unknown,
  { passwordField }: Pick<AuthRoute, "passwordField">,
): Promise<Response> {
  if (response instanceof RefusalResponse) return response;
  const refused = responseToFailure(failure);
  if (refused) return refused;
  if (response.status < 400) return withNoStore(response);
  const { code, message } = await errorOf(response);
  // Another backup code was used in the same moment. Better Auth has ended this sign-in, and gives no code.
  if (response.status === 409 && code === "")
    return refusalResponse({ reason: "sign_in_expired" }, "INVALID_TWO_FACTOR_COOKIE");
  const refusal = REASONS_OF_CODES[code];
  if (code === "INVALID_PASSWORD") {
    return refusalResponse({ reason: "wrong_password", field: passwordField }, code);
  }
  if (refusal) return refusalResponse(refusal, code);
  if (response.status >= 500 || message === "") return refusalResponse({ reason: "internal_error" });
  return errorResponse(response.status, message, code === "" ? "BAD_REQUEST" : code);
}

/** The response to an error of the database that is no defect; `null`: any other error. */
export function responseToFailure(failure: unknown): RefusalResponse | null {
  if (failure instanceof DatabaseUnavailable || isTimeout(failure))
    return refusalResponse({ reason: "unavailable" });
  if (violatedConstraint(failure) === "user_email_key") {
    return refusalResponse({ reason: "email_taken" }, "USER_ALREADY_EXISTS");
  }
  // Deleted at the same moment.
  if (sqlState(failure) === FOREIGN_KEY_VIOLATION) return refusalResponse({ reason: "unauthorized" });
  return null;
}

/** The status of an error with this code, of ours or of Better Auth. */
export function statusOfCode(code: string): number {
  const facts = REASONS_OF_CODES[code];
  if (facts !== undefined) return statusOf[reasonCode(facts.reason)];
  const refusalCode = (Object.keys(CODES) as RefusalCode[]).find((candidate) => CODES[candidate] === code);
  return refusalCode === undefined ? (OWN_STATUSES[code] ?? 400) : statusOf[refusalCode];
}

/** Of Better Auth's codes that have neither a reason of ours nor the status 400. */
const OWN_STATUSES: Record<string, number> = {
  UNSUPPORTED_MEDIA_TYPE: 415,
  INVALID_CALLBACK_URL: 403,
  INVALID_REDIRECT_URL: 403,
};

export function tooManyRequests(waitSeconds: number): RefusalResponse {
  return refusalResponse({ reason: "rate_limited", params: { retryAfterSeconds: waitSeconds } });
}

const CODES = {
  unauthorized: "UNAUTHORIZED",
  forbidden: "FORBIDDEN",
  rate_limited: "TOO_MANY_REQUESTS",
  invalid_input: "BAD_REQUEST",
  too_large: "PAYLOAD_TOO_LARGE",
  not_found: "NOT_FOUND",
  method_not_allowed: "METHOD_NOT_ALLOWED",
  gone: "GONE",
  conflict: "CONFLICT",
  unavailable: "SERVICE_UNAVAILABLE",
  internal: "INTERNAL_SERVER_ERROR",
} as const satisfies Record<RefusalCode, string>;

/** Where there is a reason of ours for one of Better Auth's codes. */
const REASONS_OF_CODES: Record<string, RefusalFacts> = {
  UNAUTHORIZED: { reason: "unauthorized" },
  INVALID_EMAIL_OR_PASSWORD: { reason: "invalid_credentials" },
  EMAIL_NOT_VERIFIED: { reason: "email_not_verified" },
  BANNED: { reason: "account_suspended" },
  USER_ALREADY_EXISTS: { reason: "email_taken" },
  USER_ALREADY_EXISTS_USE_ANOTHER_EMAIL: { reason: "email_taken" },
  INVALID_PASSWORD: { reason: "wrong_password" },
  CREDENTIAL_ACCOUNT_NOT_FOUND: { reason: "no_password" },
  INVALID_TOKEN: { reason: "link_expired" },
  TOKEN_EXPIRED: { reason: "link_expired" },
  USER_NOT_FOUND: { reason: "link_expired" },
  MISSING_OR_NULL_ORIGIN: { reason: "cross_origin" },
  INVALID_ORIGIN: { reason: "cross_origin" },
  VALIDATION_ERROR: { reason: "invalid_input", params: { problem: "invalid" } },
  INVALID_CODE: { reason: "wrong_code", field: "code" },
  INVALID_BACKUP_CODE: { reason: "wrong_code", field: "code" },
  INVALID_TWO_FACTOR_COOKIE: { reason: "sign_in_expired" },
  TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE: { reason: "sign_in_expired" },
  // The whole time: Better Auth does not say how much of it has passed.
  ACCOUNT_TEMPORARILY_LOCKED: { reason: "too_many_wrong_codes", params: { retryAfterSeconds: 15 * 60 } },
};

function headersOf({ code, params }: Refusal): Record<string, string> {
  return {
    "content-type": "application/json",
    "cache-control": "no-store",
    ...statusHeaders(statusOf[code]),
    ...(code === "rate_limited" ? { "retry-after": `${params.retryAfterSeconds}` } : {}),
  };
}

async function errorOf(response: Response): Promise<{ code: string; message: string }> {
  const body = (await response.json().catch(() => null)) as { code?: unknown; message?: unknown } | null;
  return {
    code: typeof body?.code === "string" ? body.code : "",
    message: typeof body?.message === "string" ? body.message : "",
  };
}

function withNoStore(response: Response): Response {
  const headers = new Headers(response.headers);
  headers.set("cache-control", "no-store");
  return new Response(response.body, { status: response.status, headers });
}
