import { DatabaseUnavailable, sqlState, violatedConstraint } from "../store/database.ts";

const RETRY_AFTER_SECONDS = "5";

/** A response with the body `{ "error": string }`. */
export function errorResponse(status: number, error: string, headers: Record<string, string> = {}): Response {
  return Response.json({ error }, { status, headers: { "cache-control": "no-store", ...headers } });
}

/**
 * Turns Better Auth's response into ours: a success unchanged, a failure as `{ "error": string }`, and a failure too
 * whatever the database did not do.
 * @param failure the last database error during the request, or `null`
 */
export async function translateResponse(response: Response, failure: unknown): Promise<Response> {
  if (failure instanceof DatabaseUnavailable) return unavailableResponse();
  if (violatedConstraint(failure) === "user_email_key") return errorResponse(409, EMAIL_TAKEN);
  // Deleted at the same moment.
  if (sqlState(failure) === FOREIGN_KEY_VIOLATION) return errorResponse(401, "Unauthorized");
  if (response.status < 400) return withNoStore(response);
  const { code, message } = await errorOf(response);
  const known = OVERRIDES[code];
  if (known) return errorResponse(...known);
  if (response.status >= 500 || message === "") return errorResponse(500, "Internal server error");
  return errorResponse(response.status, message);
}

export function unavailableResponse(): Response {
  return errorResponse(503, "Service unavailable", { "retry-after": RETRY_AFTER_SECONDS });
}

const FOREIGN_KEY_VIOLATION = "23503";
const EMAIL_TAKEN = "There is an account with this address already";
const EXPIRED_LINK = "This link is not valid, or not any more";

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
