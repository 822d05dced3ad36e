import { DatabaseUnavailable, sqlState, violatedConstraint } from "../store/database.ts";

const RETRY_AFTER_SECONDS = "5";

/** A response with the body `{ error, message, code }`: Better Auth's own client reads the last two. */
export function errorResponse(
  status: number,
  error: string,
  { code = CODES[status] ?? "BAD_REQUEST", headers = {} }: ErrorOptions = {},
): Response {
  return Response.json(
    { error, message: error, code },
    { status, headers: { "cache-control": "no-store", ...headers } },
  );
}

type ErrorOptions = { code?: string; headers?: Record<string, string> };

const CODES: Record<number, string> = {
  401: "UNAUTHORIZED",
  403: "FORBIDDEN",
  404: "NOT_FOUND",
  405: "METHOD_NOT_ALLOWED",
  409: "CONFLICT",
  415: "UNSUPPORTED_MEDIA_TYPE",
  429: "TOO_MANY_REQUESTS",
  500: "INTERNAL_SERVER_ERROR",
  503: "SERVICE_UNAVAILABLE",
};

/**
 * Turns Better Auth's response into ours: a success unchanged, a failure as an error body, and a failure too whatever
 * the database did not do.
 * @param failure the last database error during the request, or `null`
 */
export async function translateResponse(response: Response, failure: unknown): Promise<Response> {
  if (failure instanceof DatabaseUnavailable) return unavailableResponse();
  if (violatedConstraint(failure) === "user_email_key") {
    return errorResponse(409, EMAIL_TAKEN, { code: "USER_ALREADY_EXISTS" });
  }
  // Deleted at the same moment.
  if (sqlState(failure) === FOREIGN_KEY_VIOLATION) return errorResponse(401, "Unauthorized");
  if (response.status < 400) return withNoStore(response);
  const { code, message } = await errorOf(response);
  const known = OVERRIDES[code];
  if (known) return errorResponse(known[0], known[1], { code });
  if (response.status >= 500 || message === "") return errorResponse(500, "Internal server error");
  return errorResponse(response.status, message, code === "" ? {} : { code });
}

export function unavailableResponse(): Response {
  return errorResponse(503, "Service unavailable", { headers: { "retry-after": RETRY_AFTER_SECONDS } });
}

export function tooManyRequests(waitSeconds: number): Response {
  return errorResponse(429, "Too many requests. Please wait a moment.", {
    headers: { "retry-after": `${waitSeconds}` },
  });
}

const FOREIGN_KEY_VIOLATION = "23503";
export const EMAIL_TAKEN = "There is an account with this address already";
const EXPIRED_LINK = "This link is not valid, or not any more";
const WRONG_CODE = "This code is not right";
const SIGN_IN_AGAIN = "This sign-in has expired: start again with your password";

/** Where Better Auth's status or sentence does not suit a person. */
const OVERRIDES: Record<string, readonly [status: number, error: string]> = {
  USER_ALREADY_EXISTS: [409, EMAIL_TAKEN],
  USER_ALREADY_EXISTS_USE_ANOTHER_EMAIL: [409, EMAIL_TAKEN],
  INVALID_PASSWORD: [400, "currentPassword: is not right"],
  CREDENTIAL_ACCOUNT_NOT_FOUND: [400, "This account has no password yet: ask for one to be set by mail"],
  INVALID_TOKEN: [400, EXPIRED_LINK],
  TOKEN_EXPIRED: [400, EXPIRED_LINK],
  USER_NOT_FOUND: [400, EXPIRED_LINK],
  MISSING_OR_NULL_ORIGIN: [403, "Forbidden"],
  INVALID_ORIGIN: [403, "Forbidden"],
  VALIDATION_ERROR: [400, "Invalid request"],
  INVALID_CODE: [400, WRONG_CODE],
  INVALID_BACKUP_CODE: [400, WRONG_CODE],
  INVALID_TWO_FACTOR_COOKIE: [401, SIGN_IN_AGAIN],
  TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE: [401, SIGN_IN_AGAIN],
  ACCOUNT_TEMPORARILY_LOCKED: [429, "Too many wrong codes. Please wait 15 minutes."],
};

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
