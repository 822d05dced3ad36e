import type { Context } from "hono";
import { accepts } from "hono/accepts";
import type { RefusalCode } from "../domain/refusals/reason-definition.ts";
import type { Reason } from "../domain/refusals/reasons.ts";
import { refusalFor, shownReason } from "../domain/refusals/refusal.ts";

const graphqlCodeOf = {
  unauthorized: "UNAUTHENTICATED",
  forbidden: "FORBIDDEN",
  rate_limited: "RATE_LIMITED",
  invalid_input: "BAD_USER_INPUT",
  too_large: "PAYLOAD_TOO_LARGE",
  not_found: "NOT_FOUND",
  method_not_allowed: "METHOD_NOT_ALLOWED",
  gone: "GONE",
  conflict: "CONFLICT",
  unavailable: "UNAVAILABLE",
  internal: "INTERNAL_SERVER_ERROR",
} as const satisfies Record<RefusalCode, string>;

/** The error that a client sees, for a failed field or a request that was not run. */
export function shownError(error: unknown): {
  message: string;
  extensions: { code: string; reason: Reason; params: Record<string, unknown> };
} {
  const refusal = refusalFor(error);
  return {
    message: refusal.message,
    extensions: { code: graphqlCodeOf[refusal.code], ...shownReason(refusal) },
  };
}

/** The media type that the client accepts for responses: GraphQL over HTTP, section 6.1. */
export function mediaType(c: Context): string {
  return accepts(c, {
    header: "Accept",
    supports: ["application/json", "application/graphql-response+json"],
    default: "application/json",
  });
}

export function contentType(c: Context): string {
  return `${mediaType(c)}; charset=utf-8`;
}
