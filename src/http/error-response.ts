import type { Context, MiddlewareHandler } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { Refusal, type RefusalCode } from "../domain/refusal.ts";

export const statusOf = {
  unauthorized: 401,
  forbidden: 403,
  rate_limited: 429,
  invalid_input: 400,
  too_large: 413,
  not_found: 404,
  conflict: 409,
  unavailable: 503,
} as const satisfies Record<RefusalCode, ContentfulStatusCode>;

const RETRY_AFTER_SECONDS = "5";

/**
 * Whatever a handler has thrown. Of a defect the client learns nothing but that there is one.
 * @param note is given what was no refusal, for the operator
 */
export function answerError(c: Context, error: unknown, note: (error: unknown) => void): Response {
  // `Retry-After` of a 429 is among the limit's headers.
  if (error instanceof Refusal) return problem(c, statusOf[error.code], error.message);
  note(error);
  if (error instanceof Error && error.name === "DatabaseUnavailable") {
    return problem(c, 503, "Service unavailable");
  }
  return problem(c, 500, "Internal server error");
}

/** Hono lets only errors reach its error handler: whatever else is thrown is made one. Innermost. */
export const onlyErrors: MiddlewareHandler = async (_, next) => {
  try {
    await next();
  } catch (thrown) {
    throw thrown instanceof Error ? thrown : new Error("what was thrown is not an error", { cause: thrown });
  }
};

function problem(c: Context, status: ContentfulStatusCode, error: string): Response {
  // A public route may have allowed caches to keep its answer: not this one.
  c.header("cache-control", "no-store");
  if (status === 401) c.header("www-authenticate", 'Bearer realm="tollgate"');
  if (status === 503) c.header("retry-after", RETRY_AFTER_SECONDS);
  return c.json({ error }, status);
}
