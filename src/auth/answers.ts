import { DatabaseUnavailable, sqlState, violatedConstraint } from "../store/database.ts";

const RETRY_AFTER_SECONDS = "5";

/** An answer with the body `{ "error": string }`. */
export function refusal(status: number, error: string, headers: Record<string, string> = {}): Response {
  return Response.json({ error }, { status, headers: { "cache-control": "no-store", ...headers } });
}

/**
 * Better Auth's answer as ours: what went well as it is, what did not as `{ "error": string }`, and nothing as done
 * that the database has not done.
 * @param failure the last error that the database answered with meanwhile, or `null`
 */
export async function translated(response: Response, failure: unknown): Promise<Response> {
  if (failure instanceof DatabaseUnavailable) return unavailable();
  if (violatedConstraint(failure) === "user_email_key") return refusal(409, EXISTS);
  // Deleted at the same moment.
  if (sqlState(failure) === FOREIGN_KEY_VIOLATION) return refusal(401, "Unauthorized");
  if (response.status < 400) return unstored(response);
  const { code, message } = await problemOf(response);
  const known = KNOWN[code];
  if (known) return refusal(...known);
  if (response.status >= 500 || message === "") return refusal(500, "Internal server error");
  return refusal(response.status, message);
}

export function unavailable(): Response {
  return refusal(503, "Service unavailable", { "retry-after": RETRY_AFTER_SECONDS });
}

const FOREIGN_KEY_VIOLATION = "23503";
const EXISTS = "There is an account with this address already";
const EXPIRED_LINK = "This link is not valid, or not any more";

/** Where its status or its words are not for a person. */
const KNOWN: Record<string, readonly [status: number, error: string]> = {
  USER_ALREADY_EXISTS: [409, EXISTS],
  USER_ALREADY_EXISTS_USE_ANOTHER_EMAIL: [409, EXISTS],
  INVALID_PASSWORD: [400, "currentPassword: is not right"],
  CREDENTIAL_ACCOUNT_NOT_FOUND: [400, "This account has no password yet: ask for one to be set by mail"],
  INVALID_TOKEN: [400, EXPIRED_LINK],
  TOKEN_EXPIRED: [400, EXPIRED_LINK],
  USER_NOT_FOUND: [400, EXPIRED_LINK],
  MISSING_OR_NULL_ORIGIN: [403, "Forbidden"],
  INVALID_ORIGIN: [403, "Forbidden"],
  VALIDATION_ERROR: [400, "Invalid request"],
};

async function problemOf(response: Response): Promise<{ code: string; message: string }> {
  const body = (await response.json().catch(() => null)) as { code?: unknown; message?: unknown } | null;
  return {
    code: typeof body?.code === "string" ? body.code : "",
    message: typeof body?.message === "string" ? body.message : "",
  };
}

function unstored(response: Response): Response {
  const headers = new Headers(response.headers);
  headers.set("cache-control", "no-store");
  return new Response(response.body, { status: response.status, headers });
}
