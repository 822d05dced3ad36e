import { Refusal, type RefusalCode } from "../../domain/refusal.ts";

const codeOf = {
  unauthorized: "UNAUTHENTICATED",
  forbidden: "FORBIDDEN",
  rate_limited: "RATE_LIMITED",
  invalid_input: "BAD_USER_INPUT",
  too_large: "PAYLOAD_TOO_LARGE",
  not_found: "NOT_FOUND",
  conflict: "CONFLICT",
  unavailable: "UNAVAILABLE",
} as const satisfies Record<RefusalCode, string>;

/** What a client is told of whatever went wrong in a field, or kept the request from being run at all. */
export function toldOf(error: unknown): { message: string; code: string } {
  if (error instanceof Refusal) return { message: error.message, code: codeOf[error.code] };
  if (error instanceof Error && error.name === "DatabaseUnavailable") {
    return { message: "Service unavailable", code: codeOf.unavailable };
  }
  return { message: "Internal server error", code: "INTERNAL_SERVER_ERROR" };
}
