import type { Context, MiddlewareHandler } from "hono";
import { versionNumber } from "../domain/api-version.ts";
import { Refusal, type RefusalFacts, refusalFor, shownReason } from "../domain/refusals/refusal.ts";
import { statusHeaders, statusOf } from "./status-of.ts";

/**
 * Maps any thrown error to a response.
 * @param logDefect called with what is not a refusal
 */
export function answerError(c: Context, error: unknown, logDefect: (error: unknown) => void): Response {
  if (!(error instanceof Refusal)) logDefect(error);
  return answerRefusal(c, refusalFor(error));
}

/**
 * Wraps thrown non-errors: Hono passes only errors to its error handler. Must be the innermost middleware.
 */
export const onlyErrors: MiddlewareHandler = async (_, next) => {
  try {
    await next();
  } catch (thrown) {
    throw thrown instanceof Error ? thrown : new Error("what was thrown is not an error", { cause: thrown });
  }
};

/** A refusal as a REST response, in the requested version. */
export function answerRefusal(
  c: Context,
  refusal: Refusal | RefusalFacts,
  { headers = {} }: { headers?: Record<string, string> } = {},
): Response {
  const thrown = refusal instanceof Refusal ? refusal : new Refusal(refusal);
  const status = statusOf[thrown.code];
  // A public route may have allowed caching: an error must not be cached.
  c.header("cache-control", "no-store");
  for (const [name, value] of Object.entries(statusHeaders(status))) c.header(name, value);
  // Not every refusal of this kind has a charge, whose limit headers would say it.
  if (thrown.code === "rate_limited") c.header("retry-after", `${thrown.params.retryAfterSeconds}`);
  return c.json(errorBody(thrown, c.get("apiVersion")), status, headers);
}

/** v1 contains the sentence alone. */
function errorBody(refusal: Refusal, version: string | undefined): object {
  const error = refusal.message;
  if (version === undefined || versionNumber(version) < 2) return { error };
  return { error, ...shownReason(refusal) };
}
