import type { RefusalCode } from "../domain/reason-definition.ts";

/** The HTTP status of every refusal. */
export const statusOf = {
  unauthorized: 401,
  forbidden: 403,
  rate_limited: 429,
  invalid_input: 400,
  too_large: 413,
  not_found: 404,
  method_not_allowed: 405,
  gone: 410,
  conflict: 409,
  unavailable: 503,
  internal: 500,
} as const satisfies Record<RefusalCode, number>;
